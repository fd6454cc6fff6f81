package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

func (f *runFlags) policy(plan *runner.Plan) (*thresholds.Policy, error) {
	if f.limits == "" {
		return thresholds.Default(), nil
	}
	policy, err := thresholds.Load(suite.OS, filepath.ToSlash(f.limits))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, j := range plan.Jobs {
		names = append(names, j.Name)
	}
	return policy, policy.Check(names)
}

// judge turns crossed thresholds into errors. Whoever reads Bencher Metric
// Format judges by its own thresholds, and takes a failing command for one
// that could not measure.
func (f *runFlags) judge(ctx context.Context, t *terminal, policy *thresholds.Policy, runs []*bench.Run) error {
	if f.format == "bmf" {
		return nil
	}
	var errs, unread []error
	for _, run := range runs {
		slower, err := f.judgeHistory(ctx, t, policy, run, runs)
		errs, unread = append(errs, slower...), append(unread, err)
		for _, a := range policy.Judge(run) {
			err := fmt.Errorf("%s: %s is %s, over the maximum of %s", benchmarkOn(a.Benchmark, run, runs),
				a.Measure.Name, unit.Format(a.Value, a.Measure.Unit), unit.Format(a.Max, a.Measure.Unit))
			if a.Severity == thresholds.Warn {
				t.say("warning: ", "%v", err)
				continue
			}
			errs = append(errs, err)
		}
	}
	var judged error
	if len(errs) > 0 {
		judged = &exitError{exitRegression, errors.Join(errs...)}
	}
	return errors.Join(noMeasure(errors.Join(unread...)), unjudged(policy, runs), judged)
}

// judgeHistory judges a run by the earlier ones in the baseline: each regression
// is an error. What is inconclusive does not fail a run, and is said.
func (f *runFlags) judgeHistory(ctx context.Context, t *terminal, policy *thresholds.Policy, run *bench.Run, runs []*bench.Run) ([]error, error) {
	past, unread := f.store.history(ctx, t, policy, run, "")
	var regressions []error
	unclear := map[string][]string{}
	for _, v := range policy.JudgeHistory(run, thresholds.Options{History: past}) {
		err := fmt.Errorf("%s: %s: %s", benchmarkOn(v.Benchmark, run, runs), v.Measure.Name, v.Why)
		switch {
		case v.Severity == thresholds.Ignore:
		case v.Outcome == thresholds.Inconclusive:
			unclear[v.Why] = append(unclear[v.Why], benchmarkOn(v.Benchmark, run, runs)+": "+v.Measure.Name)
		case v.Outcome == thresholds.Regression && v.Severity == thresholds.Warn:
			t.say("warning: ", "%v", err)
		case v.Outcome == thresholds.Regression:
			regressions = append(regressions, err)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(unclear)) {
		t.say("warning: ", "inconclusive: %s: %s", strings.Join(unclear[why], ", "), why)
	}
	return regressions, unread
}

// unjudged says which thresholds could not be applied.
func unjudged(policy *thresholds.Policy, runs []*bench.Run) error {
	var errs []error
	for _, run := range runs {
		for _, what := range policy.Unjudged(run) {
			errs = append(errs, fmt.Errorf("%s was not measured, so its threshold is not applied", benchmarkOn(what, run, runs)))
		}
	}
	return noMeasure(errors.Join(errs...))
}

// failures says what could not be measured, one error a benchmark.
func failures(runs []*bench.Run, verbose bool) error {
	var errs []error
	for _, run := range runs {
		errs = append(errs, failuresOf(run, runs, verbose)...)
	}
	return noMeasure(errors.Join(errs...))
}

func failuresOf(run *bench.Run, runs []*bench.Run, verbose bool) (errs []error) {
	for i := range run.Results {
		r := &run.Results[i]
		if r.Error == "" {
			continue
		}
		err := fmt.Errorf("%s: %s", benchmarkOn(r.Benchmark, run, runs), r.Error)
		if r.Log != "" {
			err = &detailed{err, logLines(r.Log, verbose)}
		}
		errs = append(errs, bench.WithHint(err, r.Hint))
	}
	if run.Partial {
		errs = append(errs, errors.New("interrupted: the results are partial"))
	}
	return errs
}

// benchmarkOn names a benchmark, and its kernel where there are several.
func benchmarkOn(name string, run *bench.Run, runs []*bench.Run) string {
	if len(runs) > 1 {
		name += " on Linux " + run.Testbed.Kernel
	}
	return name
}
