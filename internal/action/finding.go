package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/report/compare"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/report/measured"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

// The verdicts, which the action has as its output of that name.
const (
	foundPass         = "pass"
	foundRegression   = "regression"
	foundInconclusive = "inconclusive"
	foundError        = "error"
)

// finding is the verdict on the results, and how to present it.
type finding struct {
	verdict string
	// regressed and improved are names of benchmarks.
	regressed, improved []string
	// doc is the report, whose title is the verdict.
	doc *grid.Document
	// log is the report in the form for the job's log.
	log string
	// alone says that there was no base to compare with. lack is why something was not
	// compared with its base, where it should have been.
	alone bool
	lack  lack
	// into is the branch of the base that was compared with, empty if it is unknown.
	into string
	// bmf is the head in Bencher Metric Format, empty if nothing was measured.
	bmf         []byte
	annotations []github.Annotation
	// err decides the exit code, before the input fail-on is applied.
	err error
}

// find judges results; missing says which parts are missing. An error means that the action
// was called wrongly.
func (r *reporter) find(ctx context.Context, results *bench.Results, history baseline.Store, missing error) (*finding, error) {
	if r.in.shard != nil && measuredNothing(results) {
		return &finding{verdict: foundPass, doc: &grid.Document{Title: grid.Heading{Mark: grid.Passed, Text: "Nothing to measure in shard " + r.in.shard.String()}}}, nil
	}
	policy, err := r.policyFor(results, missing)
	if err != nil {
		return nil, exit.Usage(err)
	}
	j := &judge.Judge{Policy: policy, Strict: r.in.strict(), Store: history, Where: r.in.baseline}
	if history == nil {
		j.Where = r.state.path(storedFolder)
		j.Store = folder.Open(j.Where)
	}
	j.Store = r.warning(j.Store)
	in := r.openSources(ctx)
	in.place(results)
	var found *finding
	if len(results.Comparisons) > 0 {
		found, err = r.findPaired(ctx, j, in, results.Comparisons, missing)
	} else {
		found, err = r.findAlone(ctx, j, results.Runs, missing)
	}
	if err != nil {
		return nil, err
	}
	for i := range found.annotations {
		if a := &found.annotations[i]; !in.placed[a.Path] {
			a.Path, a.Line, a.EndLine = "", 0, 0
		}
	}
	if r.in.shard != nil {
		found.ofShard(r.in.shard.String())
	}
	return found, nil
}

// measuredNothing reports whether results are from a shard without benchmarks.
func measuredNothing(results *bench.Results) bool {
	for _, run := range results.Runs {
		if len(run.Results) > 0 {
			return false
		}
	}
	for _, c := range results.Comparisons {
		if len(c.Pairs) > 0 {
			return false
		}
	}
	return true
}

func (r *reporter) findPaired(ctx context.Context, j *judge.Judge, in *sources, comparisons []*bench.Comparison, missing error) (*finding, error) {
	judged, notes, unread := j.Comparisons(ctx, comparisons)
	r.Watch.Tell(notes...)
	found := &finding{err: errors.Join(r.verdict(j, judged), unread, judge.Uncompared(comparisons, false, missing), j.Missed(nil, judge.Testbeds(comparisons)))}
	if r.in.shard != nil {
		// Other shards may have the benchmarks to compare, and a correction for many tests
		// must cover the whole suite.
		found.err = judge.Uncompared(comparisons, false, missing)
	}
	var log, bmf bytes.Buffer
	judged.Explained, judged.Link, judged.Reproduce = true, r.link(in), r.reproduce(in, comparisons)
	if err := errors.Join(compare.Text(&log, judged), measured.BMF(&bmf, measured.New(judged.HeadRuns()...))); err != nil {
		return nil, exit.NoMeasure(fmt.Errorf("report: %w", err))
	}
	found.log, found.doc, found.bmf = log.String(), compare.Document(judged), bmf.Bytes()
	found.take(judged)
	found.lack = lack(judged.Doubt())
	found.verdict = found.overall(judged)
	if swapped := swap(judged); swapped != nil && found.verdict == foundPass && r.in.shard == nil {
		found.verdict = foundInconclusive
		if r.in.strict() {
			found.err = exit.NoMeasure(fmt.Errorf("inconclusive: %w", swapped))
		}
	}
	if r.in.shard != nil && found.verdict == foundError && found.err == nil {
		found.verdict = foundPass
		found.doc.Title = grid.Heading{Text: "Nothing to compare"}
	}
	return found, nil
}

// verdict returns why a comparison does not pass, and prints the notes about budgets.
func (r *reporter) verdict(j *judge.Judge, judged *compare.Model) error {
	notes, err := j.Verdict(judged)
	r.Watch.Tell(notes...)
	return err
}

// take records which benchmarks of a judged comparison got slower or faster, and where in
// the source they are.
func (f *finding) take(judged *compare.Model) {
	var notes remarks
	slower, faster := map[string]bool{}, map[string]bool{}
	for _, t := range judged.Tables {
		kernel := ""
		if len(judged.Tables) > 1 {
			kernel = t.Testbed.Kernel
		}
		pairs := map[string]*bench.Pair{}
		for i := range t.Pairs {
			pairs[t.Pairs[i].Benchmark] = &t.Pairs[i]
		}
		for i := range t.Verdicts.All {
			v := &t.Verdicts.All[i]
			switch {
			case v.Severity == thresholds.Ignore:
			case v.Outcome == thresholds.Regression || v.Outcome == thresholds.OverBudget:
				if p := pairs[v.Benchmark]; p != nil && p.Head != nil {
					notes.add(p.Head, kernel, complaintOf(v)).dear(p)
				}
				slower[v.Benchmark] = slower[v.Benchmark] || v.Severity == thresholds.Fail
			case v.Outcome == thresholds.Removed:
				if p := pairs[v.Benchmark]; p != nil && p.Base != nil {
					// Its place is in the base's source, not in the head's.
					notes.add(&bench.Result{Program: p.Base.Program}, kernel, complaintOf(v))
				}
			case v.Outcome == thresholds.Improvement && v.Severity == thresholds.Fail:
				faster[v.Benchmark] = true
			}
		}
	}
	f.annotations = notes.annotations()
	for _, name := range slices.Sorted(maps.Keys(slower)) {
		if slower[name] {
			f.regressed = append(f.regressed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(faster)) {
		if !slower[name] {
			f.improved = append(f.improved, name)
		}
	}
}

// swap says which benchmarks were removed while others were added, or returns nil: under a new
// name one can get slower unseen.
func swap(judged *compare.Model) error {
	var gone, added []string
	for _, t := range judged.Tables {
		for i := range t.Verdicts.All {
			if v := &t.Verdicts.All[i]; v.Outcome == thresholds.Removed && v.Severity == thresholds.Warn {
				gone = unit.AppendNew(gone, v.Benchmark)
			}
		}
		for i := range t.Pairs {
			if p := &t.Pairs[i]; p.Base == nil {
				added = unit.AppendNew(added, p.Benchmark)
			}
		}
	}
	if len(gone) == 0 || len(added) == 0 {
		return nil
	}
	return fmt.Errorf("%s removed, %s added: whether that is one under a new name is not known", unit.Few(gone), unit.Few(added))
}

// overall returns the verdict, which is inconclusive also where that passes.
func (f *finding) overall(judged *compare.Model) string {
	unclear := false
	for _, t := range judged.Tables {
		unclear = unclear || slices.ContainsFunc(t.Verdicts.All, func(v thresholds.Verdict) bool {
			return v.Outcome == thresholds.Inconclusive && v.Severity == thresholds.Fail
		})
	}
	switch judged.Overall() {
	case thresholds.Regression, thresholds.OverBudget, thresholds.Removed:
		return foundRegression
	case thresholds.Failed:
		return foundError
	}
	switch {
	case unclear:
		return foundInconclusive
	case f.err != nil:
		return foundError
	}
	return foundPass
}

// notMeasured returns the finding for a run without results.
func notMeasured(before *failure) *finding {
	f := &finding{verdict: foundError, doc: &grid.Document{Title: grid.Heading{Mark: grid.Failed, Text: "Could not measure"}}}
	if before.Step == "build" {
		f.doc.Title.Text = "The head was not built"
	}
	if before.Text != "" {
		f.fail(before)
	} else {
		f.err = exit.NoMeasure(errors.New("nothing was measured"))
	}
	return f
}

// ofShard says in the title that this is a shard, which gets no verdict.
func (f *finding) ofShard(shard string) {
	text := f.doc.Title.Text
	f.doc.Title = grid.Heading{Text: "Shard " + shard + ", judged when the shards are merged: " + strings.ToLower(text[:1]) + text[1:]}
	if exit.CodeOf(f.err) != exit.Pass {
		f.doc.Title.Mark = grid.Failed
	}
}

var notEverything = grid.Heading{Mark: grid.Failed, Text: "Not everything was measured"}

// fail adds the failure of an earlier step, with its text.
func (f *finding) fail(before *failure) {
	code := exit.NotMeasured
	if before.Code == exit.WrongUsage {
		code = exit.WrongUsage
	}
	f.doc.Sections = append(f.doc.Sections, fenced(before.Text))
	if f.verdict != foundRegression {
		f.verdict = foundError
		if f.doc.Title.Mark != grid.Failed {
			f.doc.Title = notEverything
		}
	}
	f.err = errors.Join(f.err, exit.Said(code))
}

// fenced returns text as a section that looks as it does in the log.
func fenced(text string) grid.Section {
	return grid.Section{Open: "\n", Rows: []string{escape.MarkdownFence(text)}}
}
