package judge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/bench/merge"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Failures returns one error per benchmark that could not be measured, except for those
// that told already reports. If verbose is set, the errors have the verifier's whole log.
func Failures(runs []*bench.Run, verbose bool, reported ...error) error {
	var all failureList
	for _, run := range runs {
		for i := range run.Results {
			all.add(&run.Results[i], "", run.Testbed.Kernel)
		}
	}
	cut := cutShort{by: "ended early", what: "the results are partial"}
	for _, run := range runs {
		cut.add(run.Partial, run.Missing, run.MissingKernels)
	}
	return cut.join(all, errors.Join(reported...), len(runs) > 1, verbose)
}

// Uncompared is Failures for comparisons.
func Uncompared(comparisons []*bench.Comparison, verbose bool, reported ...error) error {
	var all failureList
	cut := cutShort{by: "ended early", what: "the comparison is partial"}
	for _, c := range comparisons {
		for i := range c.Pairs {
			all.add(c.Pairs[i].Base, "base", c.Testbed.Kernel)
			all.add(c.Pairs[i].Head, "head", c.Testbed.Kernel)
		}
		if c.BaseTestbed != nil { // earlier measurements are not cut short now
			cut.by, cut.what = "base or head is partial", "not everything was compared"
		}
		cut.add(c.Partial, c.Missing, c.MissingKernels)
	}
	return cut.join(all, errors.Join(reported...), len(comparisons) > 1, verbose)
}

// Unexplained is Failures for explanations.
func Unexplained(all []*bench.Explanation, verbose bool, reported error) error {
	var failed failureList
	for _, e := range all {
		for i := range e.Programs {
			p := &e.Programs[i]
			failed.add(&bench.Result{Benchmark: p.Benchmark, Error: p.Error, Hint: p.Hint, Log: p.Log}, "", e.Testbed.Kernel)
		}
	}
	return exit.NoMeasure(errors.Join(failed.besides(reported).errors(len(all) > 1, verbose)...))
}

// Unsearched is Failures for searches.
func Unsearched(all []*bench.Search, verbose bool, reported error) error {
	var failed failureList
	for _, s := range all {
		for i := range s.Programs {
			p := &s.Programs[i]
			failed.add(&bench.Result{Benchmark: p.Benchmark, Error: p.Error, Hint: p.Hint, Log: p.Log}, "", s.Testbed.Kernel)
		}
	}
	return exit.NoMeasure(errors.Join(failed.besides(reported).errors(len(all) > 1, verbose)...))
}

// cutShort is why the measurements on one of the kernels are incomplete: missing shards,
// or else what ended them.
type cutShort struct {
	by, what string
	err      error
	kernels  []string
}

func (c *cutShort) add(partial bool, missing bench.Shards, kernels []string) {
	for _, kernel := range kernels {
		c.kernels = unit.AppendNew(c.kernels, kernel)
	}
	switch {
	case partial && len(missing) > 0:
		c.err = errors.New(missing.Are("missing: " + c.what))
	case partial && c.err == nil:
		c.err = fmt.Errorf("%s: %s", c.by, c.what)
	}
}

// join adds the reason to the failures, except for those that told already reports.
func (c *cutShort) join(failed failureList, reported error, several, verbose bool) error {
	errs := failed.besides(reported).errors(several, verbose)
	var missing *merge.MissingError
	if !errors.As(reported, &missing) {
		errs = append(errs, c.err)
	}
	if len(c.kernels) > 0 && reported == nil {
		errs = append(errs, fmt.Errorf("%s: %s", report.MissingKernels(c.kernels), c.what))
	}
	return exit.NoMeasure(errors.Join(errs...))
}

// failure is why a benchmark could not be measured, on one or several kernels, on one or
// both sides of a comparison.
type failure struct {
	*bench.Result
	sides, kernels []string
}

// failureList has one entry for all failures with the same reason.
type failureList []*failure

// add adds a result if it failed. side is empty if there is only one.
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

// lastLines is how much of a verifier's log shows why a program was refused.
const lastLines = 6

// logLines returns the end of a verifier's log, or all of it.
func logLines(log string, whole bool) []string {
	lines := strings.Split(strings.TrimRight(log, "\n"), "\n")
	if left := len(lines) - lastLines; !whole && left > 0 {
		return append([]string{"… " + unit.Plural(left, "line") + " before"}, lines[left:]...)
	}
	return lines
}

// besides returns the failures that an error does not already report.
func (l failureList) besides(reported error) failureList {
	return slices.DeleteFunc(l, func(f *failure) bool {
		return slices.ContainsFunc(exit.Each(reported), func(err error) bool {
			return fleet.Tells(err, f.Benchmark, f.Error)
		})
	})
}
