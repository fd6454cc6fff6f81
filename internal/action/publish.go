package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/report/grid"
)

// publisher publishes a finding.
type publisher struct {
	*reporter
	files   *github.Files
	finding *finding
	// markdown is the report.
	markdown string
	// more is the last line of a report that was cut off.
	more string
}

// write writes the files of the report, the outputs and the step's summary. None of them
// needs a token.
func (p *publisher) write() error {
	f := p.finding
	if p.in.name != "" {
		f.doc.Title.Text += " · " + escape.MarkdownCode(p.in.name)
	}
	p.markdown = f.doc.Markdown(0)
	report := p.state.path(reportFile)
	errs := []error{
		output.File(report).Write(writeText(p.markdown)),
		p.files.SetOutput("verdict", f.verdict),
		p.files.SetOutput("regressions", strconv.Itoa(len(f.regressed))),
		p.files.SetOutput("improvements", strconv.Itoa(len(f.improved))),
		p.files.SetOutput("report", report),
	}
	if len(f.bmf) > 0 {
		bmf := p.state.path(bmfFile)
		errs = append(errs, output.File(bmf).Write(writeText(string(f.bmf))), p.files.SetOutput("bmf", bmf))
	}
	if _, err := os.Lstat(p.state.path(resultsFile)); err == nil && p.in.results == "" {
		errs = append(errs, p.files.SetOutput("results", p.state.path(resultsFile)))
	}
	p.more = "… The rest is in the output report of the action, " + report + "."
	return errors.Join(append(errs, p.files.AddSummary(p.markdown, p.more))...)
}

// publish makes the comment and the check of a pull request. If GitHub does not allow this
// job to, a warning says so, and the verdict does not change.
func (p *publisher) publish(ctx context.Context) error {
	if p.on == nil || p.on.Event == "push" || p.in.shard != nil {
		return nil
	}
	if p.api == nil {
		return github.Annotate(p.Commands, p.finding.annotations)
	}
	p.more = "… The rest is in the [summary of the run](" + p.on.RunURL() + ")."
	annotated, err := p.check(ctx)
	if err != nil {
		p.refused("check", err)
	}
	if !annotated {
		// These need no permission, and point to the same lines.
		if err := github.Annotate(p.Commands, p.finding.annotations); err != nil {
			return err
		}
	}
	if err := p.comment(ctx); err != nil {
		p.refused("comment", err)
	}
	return nil
}

func (p *publisher) refused(what string, err error) {
	p.Watch.Tell(bench.Note{Warn: true, Text: fmt.Sprintf("no %s: %v", what, err), Hint: bench.Hint(err)})
}

// check publishes the check, and reports whether it has the annotations.
func (p *publisher) check(ctx context.Context) (annotated bool, err error) {
	done, err := p.api.PublishCheck(ctx, github.Check{
		Name: p.checkName(), SHA: p.on.HeadSHA, Conclusion: p.conclusion(), Mark: string(p.finding.mark()),
		Title: p.finding.doc.Title.String(), Summary: p.markdown, More: p.more, URL: p.on.RunURL(),
		Annotations: p.finding.annotations,
	})
	if err != nil {
		return false, err
	}
	if done.Why != "" {
		p.tell("a %s instead of a whole check run: %s", done.As, done.Why)
	}
	return done.Annotated, p.files.SetOutput("check-url", done.URL)
}

// checkName returns the name of the check.
func (r *reporter) checkName() string {
	if r.in.name != "" {
		return "ebpf-bench: " + r.in.name
	}
	return "ebpf-bench"
}

// conclusion returns how the check ends: as the job does, except that it is not green if
// not all was compared, as the title says then.
func (p *publisher) conclusion() github.Conclusion {
	failing := exit.CodeOf(p.finding.err) != exit.Pass && (p.in.failOn != "never" || p.finding.verdict == foundError)
	switch {
	case failing:
		return github.Failed
	case p.finding.verdict == foundPass && !p.finding.alone && p.finding.doc.Title.Mark != grid.Warned:
		return github.Success
	}
	return github.Neutral
}

func (p *publisher) comment(ctx context.Context) error {
	if p.in.comment == "never" {
		return nil
	}
	number, err := p.api.PullRequest(ctx, p.on, p.finding.into)
	if errors.Is(err, github.ErrStale) || errors.Is(err, github.ErrNoPullRequest) || errors.Is(err, github.ErrSeveral) {
		p.tell("no comment: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	f := p.finding
	done, err := p.api.Comment(ctx, number, github.Comment{
		Key:  p.key(),
		Body: p.markdown + "\n[Log and summary of the run](" + p.on.RunURL() + ")\n", More: p.more,
		State:        fmt.Sprintf("%q %q %q", f.verdict, f.regressed, f.improved),
		OnlyOnChange: p.in.comment == "on-change", Notable: f.verdict != foundPass || len(f.improved) > 0,
	})
	if err != nil {
		return err
	}
	p.tell("comment %s", done.Action)
	return p.files.SetOutput("comment-url", done.URL)
}

// key distinguishes the comment from those of other uses of the action: by the name that
// it was given, or else by what is measured where.
func (p *publisher) key() string {
	if p.in.name != "" {
		return "name " + p.in.name
	}
	return fmt.Sprintf("%q", []string{p.on.Workflow, p.on.Job, p.in.config, p.in.mode, p.in.kernels})
}
