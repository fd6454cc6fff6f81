package judge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/report/measured"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Runs judges runs, to which thresholds.Policy.Mark has already added the alerts for their
// own values. Crossed thresholds are errors. asked are the requested kernels.
func (j *Judge) Runs(ctx context.Context, asked []thresholds.Kernel, runs []*bench.Run) (notes []bench.Note, _ error) {
	off := j.Missed(asked, TestbedsOf(runs))
	if j.Elsewhere {
		return nil, off
	}
	var errs, unread []error
	over := false
	for _, run := range runs {
		slower, warnings, err := j.byHistory(ctx, run, runs)
		errs, unread, notes = append(errs, slower...), append(unread, err), append(notes, warnings...)
		for i := range run.Results {
			r := &run.Results[i]
			for _, a := range r.Alerts {
				tells := bench.Say
				if a.Severity == string(thresholds.Warn) {
					tells = bench.Warn
				}
				notes = append(notes, tells("over budget: %s: %s", benchmarkOn(r.Benchmark, run, runs), measured.OverBudget(r, &a)))
				over = over || a.Severity != string(thresholds.Warn)
			}
		}
	}
	var judged error
	if over {
		judged = exit.Said(exit.Regression)
	}
	if len(errs) > 0 {
		judged = exit.Regressed(errors.Join(errs...))
	}
	return notes, errors.Join(exit.NoMeasure(errors.Join(unread...)), unjudged(j.Policy, runs), off, judged)
}

// byHistory judges a run by the earlier ones in the baseline: each regression is an error.
// Inconclusive verdicts are notes, and in strict mode errors.
func (j *Judge) byHistory(ctx context.Context, run *bench.Run, runs []*bench.Run) (regressions []error, notes []bench.Note, unread error) {
	past, notes, unread := j.historyOf(ctx, run)
	unclear := map[string][]string{}
	for _, v := range j.Policy.JudgeHistory(run, thresholds.Options{History: past}) {
		err := fmt.Errorf("%s: %s: %s", benchmarkOn(v.Benchmark, run, runs), v.Measure.Name, v.Why)
		switch {
		case v.Severity == thresholds.Ignore:
		case v.Outcome == thresholds.Inconclusive:
			unclear[v.Why] = append(unclear[v.Why], benchmarkOn(v.Benchmark, run, runs)+": "+v.Measure.Name)
		case v.Outcome == thresholds.Regression && v.Severity == thresholds.Warn:
			notes = append(notes, bench.Warn("%v", err))
		case v.Outcome == thresholds.Regression:
			regressions = append(regressions, err)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(unclear)) {
		text := fmt.Sprintf("inconclusive: %s: %s", strings.Join(unclear[why], ", "), why)
		if j.Strict {
			unread = errors.Join(unread, errors.New(text))
			continue
		}
		notes = append(notes, bench.Warn("%s", text))
	}
	return regressions, notes, unread
}

// unjudged returns an error for each threshold that could not be applied.
func unjudged(policy *thresholds.Policy, runs []*bench.Run) error {
	var errs []error
	for _, run := range runs {
		for _, what := range policy.Unjudged(run) {
			errs = append(errs, fmt.Errorf("%s: %s: the threshold could not be applied: %s", benchmarkOn(what.Benchmark, run, runs), what.Measure, what.Why))
		}
	}
	return exit.NoMeasure(errors.Join(errs...))
}

// benchmarkOn names a benchmark, and its kernel if there are several.
func benchmarkOn(name string, run *bench.Run, runs []*bench.Run) string {
	if len(runs) > 1 {
		name += " on Linux " + run.Testbed.Kernel
	}
	return name
}
