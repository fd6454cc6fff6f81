package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

func (f *runFlags) policy(t *ui.Terminal, s *suite.Suite) (*thresholds.Policy, []thresholds.Kernel, error) {
	if f.limits = limitsOf(f.limits, s); f.limits == "" {
		return thresholds.Default(), nil, nil
	}
	policy, err := loadPolicy(f.limits, s)
	if err != nil {
		return nil, nil, err
	}
	scope, err := scopeOn(&f.machines, t, s.Kernels)
	if err != nil {
		return nil, nil, err
	}
	scope.Benchmarks = f.all
	if err := policy.Check(scope); err != nil {
		return nil, nil, err
	}
	sayIdle(t, policy.NothingForARun(scope.Modes))
	return policy, scope.Kernels, nil
}

// judge turns crossed thresholds into errors: runs have those of their own values
// already, by Mark. Whoever reads Bencher Metric
// Format judges by its own thresholds, and takes a failing command for one
// that could not measure.
func (f *runFlags) judge(ctx context.Context, t *ui.Terminal, policy *thresholds.Policy, kernels []thresholds.Kernel, runs []*bench.Run) error {
	off := exit.Usage(policy.CheckKernels(measuredOn(kernels, testbeds(runs))))
	if f.format == "bmf" {
		return off
	}
	var errs, unread []error
	over := false
	for _, run := range runs {
		slower, err := f.judgeHistory(ctx, t, policy, run, runs)
		errs, unread = append(errs, slower...), append(unread, err)
		for i := range run.Results {
			r := &run.Results[i]
			for _, a := range r.Alerts {
				say := t.Say
				if a.Severity == string(thresholds.Warn) {
					say = t.Warn
				}
				say("over budget: %s: %s", benchmarkOn(r.Benchmark, run, runs), report.OverBudget(r, &a))
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
	return errors.Join(exit.NoMeasure(errors.Join(unread...)), unjudged(policy, runs), off, judged)
}

// judgeHistory judges a run by the earlier ones in the baseline: each regression
// is an error. What is inconclusive is said, and with --strict an error too.
func (f *runFlags) judgeHistory(ctx context.Context, t *ui.Terminal, policy *thresholds.Policy, run *bench.Run, runs []*bench.Run) ([]error, error) {
	past, unread := f.store.historyOf(ctx, t, policy, run, f.from.branch)
	var regressions []error
	unclear := map[string][]string{}
	for _, v := range policy.JudgeHistory(run, thresholds.Options{History: past}) {
		err := fmt.Errorf("%s: %s: %s", benchmarkOn(v.Benchmark, run, runs), v.Measure.Name, v.Why)
		switch {
		case v.Severity == thresholds.Ignore:
		case v.Outcome == thresholds.Inconclusive:
			unclear[v.Why] = append(unclear[v.Why], benchmarkOn(v.Benchmark, run, runs)+": "+v.Measure.Name)
		case v.Outcome == thresholds.Regression && v.Severity == thresholds.Warn:
			t.Warn("%v", err)
		case v.Outcome == thresholds.Regression:
			regressions = append(regressions, err)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(unclear)) {
		text := fmt.Sprintf("inconclusive: %s: %s", strings.Join(unclear[why], ", "), why)
		if f.strict {
			unread = errors.Join(unread, errors.New(text))
			continue
		}
		t.Warn("%s", text)
	}
	return regressions, unread
}

// unjudged says which thresholds could not be applied.
func unjudged(policy *thresholds.Policy, runs []*bench.Run) error {
	var errs []error
	for _, run := range runs {
		for _, what := range policy.Unjudged(run) {
			errs = append(errs, fmt.Errorf("%s: %s: the threshold could not be applied: %s", benchmarkOn(what.Benchmark, run, runs), what.Measure, what.Why))
		}
	}
	return exit.NoMeasure(errors.Join(errs...))
}

// failures says what could not be measured, one error a benchmark, but for what
// errors have told already.
func failures(runs []*bench.Run, verbose bool, told ...error) error {
	var all failureList
	for _, run := range runs {
		for i := range run.Results {
			all.add(&run.Results[i], "", run.Testbed.Kernel)
		}
	}
	cut := cutShort{by: "ended early", what: "the results are partial"}
	for _, run := range runs {
		cut.add(run.Partial, run.Missing)
	}
	return cut.join(all, errors.Join(told...), len(runs) > 1, verbose)
}

// cutShort says why what was measured is not all of it, on one of the kernels: shards
// that are missing, or else what it was ended by.
type cutShort struct {
	by, what string
	err      error
}

func (c *cutShort) add(partial bool, missing bench.Shards) {
	switch {
	case partial && len(missing) > 0:
		c.err = errors.New(missing.Are("missing: " + c.what))
	case partial && c.err == nil:
		c.err = fmt.Errorf("%s: %s", c.by, c.what)
	}
}

// join adds that to what failed, but for what an error has told already.
func (c *cutShort) join(failed failureList, told error, several, verbose bool) error {
	errs := failed.besides(told).errors(several, verbose)
	var missing *bench.MissingError
	if !errors.As(told, &missing) {
		errs = append(errs, c.err)
	}
	return exit.NoMeasure(errors.Join(errs...))
}

// failure is why a benchmark could not be measured, on one or several kernels,
// as one or several sides of a comparison.
type failure struct {
	*bench.Result
	sides, kernels []string
}

// failureList has what failed for the same reason once.
type failureList []*failure

// add adds a result if it failed. The side is empty where there is just one.
func (l *failureList) add(r *bench.Result, side, kernel string) {
	if r == nil || r.Error == "" {
		return
	}
	i := slices.IndexFunc(*l, func(f *failure) bool { return f.Benchmark == r.Benchmark && f.Error == r.Error && f.Hint == r.Hint })
	if i < 0 {
		i = len(*l)
		*l = append(*l, &failure{Result: r})
	}
	f := (*l)[i]
	f.sides, f.kernels = unit.AppendNew(f.sides, side), unit.AppendNew(f.kernels, kernel)
}

func (l failureList) errors(several, verbose bool) []error {
	var errs []error
	for _, f := range l {
		name := f.Benchmark
		if several {
			name += " on Linux " + strings.Join(f.kernels, ", ")
		}
		if side := strings.Join(f.sides, " and "); side != "" {
			name += ", " + side
		}
		err := fmt.Errorf("%s: %s", name, f.Error)
		if f.Log != "" {
			err = bench.WithDetails(err, logLines(f.Log, verbose))
		}
		errs = append(errs, bench.WithHint(err, f.Hint))
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

// lastLines is how much of a verifier's log says why a program was refused.
const lastLines = 6

// logLines is the end of a verifier's log, or all of it.
func logLines(log string, whole bool) []string {
	lines := strings.Split(strings.TrimRight(log, "\n"), "\n")
	if left := len(lines) - lastLines; !whole && left > 0 {
		return append([]string{"… " + unit.Plural(left, "line") + " before"}, lines[left:]...)
	}
	return lines
}

// besides are the failures that an error does not tell of already.
func (l failureList) besides(told error) failureList {
	return slices.DeleteFunc(l, func(f *failure) bool {
		return slices.ContainsFunc(exit.Each(told), func(err error) bool {
			return fleet.Tells(err, f.Benchmark, f.Error)
		})
	})
}
