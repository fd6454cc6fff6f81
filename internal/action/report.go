package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
)

// reporter is the step that reports.
type reporter struct {
	*step
	// api is nil in a local run, and where there is no token.
	api *github.API
}

// run judges the results and publishes the verdict on GitHub. It has the token, so it
// runs nothing, and trusts no file.
func (r *reporter) run(ctx context.Context) error {
	api, noAPI := r.openAPI()
	r.api = api
	if noAPI != nil && r.in.results != "" {
		r.tell("%v: a local run, nothing is reported to GitHub", noAPI)
	}
	files := github.FilesFromEnv(r.Getenv)
	found, err := r.found(ctx)
	if err != nil {
		return errors.Join(err, unreported(r.Getenv, err))
	}
	p := &publisher{reporter: r, files: files, finding: found}
	fmt.Fprint(r.Stdout, found.log)
	saved, unsaved := r.save(ctx)
	if saved && found.verdict == foundPass {
		found.doc.Title = grid.Heading{Text: "Measured, and saved as the baseline of " + escape.MarkdownCode(r.on.HeadRef)}
	}
	if found.lack != "" && found.err == nil {
		r.tell("%s", found.doc.Title.Text)
	}
	err = errors.Join(p.write(), p.publish(ctx), unsaved)
	r.tidy()
	return errors.Join(r.gate(found), exit.NoMeasure(err))
}

// tidy removes the checkout of the base in a local run. A runner's goes with the job.
func (r *reporter) tidy() {
	if r.on != nil {
		return
	}
	if err := git.Remove(r.state.path(baseFolder)); err != nil {
		r.warn("the checkout of the base stays: %v", err)
	}
}

// found returns the finding on the results of this run, or of the files that were measured
// elsewhere.
func (r *reporter) found(ctx context.Context) (*finding, error) {
	if r.in.results != "" {
		return r.foundElsewhere(ctx)
	}
	var before failure
	failed, err := r.state.read(failureFile, &before)
	if err != nil {
		before, failed = failure{Code: exit.NotMeasured, Text: err.Error()}, true
	}
	measured, err := readResults(r.state.path(resultsFile), false)
	if errors.Is(err, os.ErrNotExist) {
		return notMeasured(&before), nil
	}
	if err == nil {
		err = r.ofThisRun(&measured.Results)
	}
	if err != nil {
		return nil, exit.NoMeasure(err)
	}
	found, err := r.find(ctx, &measured.Results, r.history(), nil)
	if err != nil {
		return nil, err
	}
	var p plan
	if ok, err := r.state.read(planFile, &p); !ok || err != nil {
		p = plan{}
	}
	if found.alone {
		r.missBase(ctx, found, p.Note)
	} else {
		r.missBase(ctx, found, "")
	}
	if p.Lacking != "" {
		found.note(p.Lacking)
	}
	switch {
	case !found.alone:
		found.noteSides(&measured.Results)
	case p.Note != "":
		found.noteMarkdown("The head is " + sideMarkdown(&p.HeadSide, "the base"))
		found.note(p.Note)
	}
	if p.Output != "" {
		found.doc.Sections = slices.Insert(found.doc.Sections, 0, fenced(p.Output).Behind("How the build of the base ended"))
	}
	if failed {
		found.fail(&before)
	}
	return found, nil
}

// history returns the baseline that values are judged by, nil if there is none to ask.
func (r *reporter) history() baseline.Store {
	store, err := r.store(r.api)
	if err != nil {
		return nil
	}
	return store
}

// foundElsewhere returns the finding on files that a job without this one's permissions
// measured, of a fork or in shards. It reports nothing about them if the pull request has
// moved on, or if they are from another commit.
func (r *reporter) foundElsewhere(ctx context.Context) (*finding, error) {
	results, notes, missing, err := readAllResults(r.in.results, !r.ofStranger())
	if errors.Is(err, errNoResults) {
		// The job that should have measured failed earlier: report that too.
		err = exit.NoMeasure(fmt.Errorf("input results: %w", err))
		r.complain(err)
		return notMeasured(&failure{Code: exit.NotMeasured, Text: report.Errors(err)}), nil
	}
	if err == nil {
		err = r.ofThisRun(results)
	}
	into, uncommented := "", ""
	if err == nil {
		into = baseBranch(results)
	}
	if err == nil && r.api != nil {
		_, err = r.api.PullRequest(ctx, r.on, into)
		// If the token cannot read the pull request, it cannot comment either.
		if errors.Is(err, github.ErrNoPullRequest) || errors.Is(err, github.ErrReadOnly) {
			err = nil
		}
		if errors.Is(err, github.ErrSeveral) {
			uncommented, err = "no pull request has this as a comment: "+err.Error(), nil
		}
	}
	if err != nil {
		return nil, exit.NoMeasure(fmt.Errorf("input results: %w", err))
	}
	found, err := r.find(ctx, results, r.history(), missing)
	if err != nil {
		return nil, err
	}
	found.into = into
	r.missBase(ctx, found, "")
	if uncommented != "" {
		found.note(uncommented)
	}
	for _, note := range notes {
		r.tell("%s", note)
		found.note(note)
	}
	found.noteSides(results)
	if missing != nil {
		r.complain(exit.NoMeasure(missing))
		found.fail(&failure{Code: exit.NotMeasured, Text: report.Errors(exit.NoMeasure(missing))})
	}
	return found, nil
}

// ofStranger reports whether the results come from another workflow's run, which a
// stranger may have made.
func (r *reporter) ofStranger() bool { return r.on != nil && r.on.Event == "workflow_run" }

// ofThisRun refuses results that name another commit than the one that GitHub says this
// run is about.
func (r *reporter) ofThisRun(results *bench.Results) error {
	if r.on == nil {
		return nil
	}
	for _, c := range results.Comparisons {
		if c.Head.Commit == "" && r.ofStranger() {
			return errors.New("the results do not say which commit they are of")
		}
		if c.Head.Commit != "" && c.Head.Commit != r.on.HeadSHA {
			return fmt.Errorf("the results are from commit %.12s, and this run is for %.12s", c.Head.Commit, r.on.HeadSHA)
		}
	}
	return nil
}

// baseBranch returns the branch that the base of results is of, if they all have the same.
func baseBranch(results *bench.Results) string {
	branch := ""
	for i, c := range results.Comparisons {
		if i > 0 && c.Base.Branch != branch {
			return ""
		}
		branch = c.Base.Branch
	}
	return branch
}

// noteSides says what was compared with what.
func (f *finding) noteSides(results *bench.Results) {
	if len(results.Comparisons) == 0 {
		return
	}
	// Merged results have the same sides.
	c := results.Comparisons[0]
	f.noteMarkdown(fmt.Sprintf("The base is %s, and the head %s", sideMarkdown(&c.Base, "the head"), sideMarkdown(&c.Head, cmp.Or(c.Base.Name, "it"))))
}

// sideMarkdown describes a side: its name, its commit and what is to know of it.
func sideMarkdown(side *bench.Side, other string) string {
	text := escape.Markdown(cmp.Or(side.Name, side.Branch, "unknown"))
	if side.Commit != "" {
		text += " at " + escape.Markdown(fmt.Sprintf("%.12s", side.Commit))
	}
	if side.Merged {
		text += ", merged into " + escape.Markdown(other)
	}
	if side.Note != "" {
		text += ", " + escape.Markdown(side.Note)
	}
	return text
}

// note adds a line below the title.
func (f *finding) note(text string) {
	f.noteMarkdown(escape.MarkdownLine(strings.ToUpper(text[:1]) + text[1:]))
}

// noteMarkdown adds one that has Markdown.
func (f *finding) noteMarkdown(text string) {
	f.doc.Paragraphs = slices.Insert(f.doc.Paragraphs, 0, text+".")
}

// gate returns the error of a finding after the input fail-on has been applied.
func (r *reporter) gate(found *finding) error {
	if r.in.failOn != "never" {
		return found.err
	}
	var kept []error
	slower := false
	eachError(found.err, func(err error) {
		if exit.CodeOf(err) != exit.Regression {
			kept = append(kept, err)
			return
		}
		slower = true
		r.complain(err)
	})
	if slower {
		r.tell("a regression does not fail here: fail-on is never")
	}
	return errors.Join(kept...)
}

// eachError calls do for each error that decides an exit code, including those that were
// already printed.
func eachError(err error, do func(error)) {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
	case ok:
		for _, part := range joined.Unwrap() {
			eachError(part, do)
		}
	default:
		do(err)
	}
}
