package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/report/compare"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Comparisons judges comparisons, one per kernel. If the history cannot be read, which is
// the error, verdicts by history are inconclusive.
func (j *Judge) Comparisons(ctx context.Context, comparisons []*bench.Comparison) (_ *compare.Model, notes []bench.Note, _ error) {
	var tables []compare.Table
	var errs []error
	// Judge all that was measured before the comparison was interrupted.
	ended := func() bool { return ctx.Err() != nil }
	if ended() {
		ended, ctx = nil, context.WithoutCancel(ctx)
	}
	for _, c := range comparisons {
		past, warnings, err := j.history(ctx, c.HeadRun(), c.Base.Branch)
		errs, notes = append(errs, err), append(notes, warnings...)
		tables = append(tables, compare.Table{
			Comparison: c,
			Verdicts:   j.Policy.Compare(c, thresholds.Options{Strict: j.Strict, History: past, Ended: ended}),
		})
	}
	if ctx.Err() != nil {
		errs = append(errs, errors.New("interrupted: not everything was judged"))
	}
	return compare.New(tables...), notes, exit.NoMeasure(errors.Join(errs...))
}

// Verdict turns outcomes into errors, one for each that keeps a comparison from passing.
// Notes report what is over budget.
func (j *Judge) Verdict(m *compare.Model) (notes []bench.Note, _ error) {
	var errs []error
	for _, t := range m.Tables {
		lost := ""
		for _, v := range t.Verdicts.All {
			if v.Outcome == thresholds.Removed && v.Severity == thresholds.Fail && v.Benchmark != lost && !j.Elsewhere {
				// Each of its measures has this verdict.
				lost = v.Benchmark
				errs = append(errs, exit.Regressed(on(t.Comparison, len(m.Tables) > 1, TextOf(&v))))
			}
			if v.Outcome == thresholds.OverBudget && v.Severity == thresholds.Fail && !j.Elsewhere {
				notes = append(notes, bench.Say("over budget: %v", on(t.Comparison, len(m.Tables) > 1, TextOf(&v))))
				errs = append(errs, exit.Said(exit.Regression))
			}
			if err := j.verdictError(&v, t.Verdicts.Strict); err != nil {
				errs = append(errs, on(t.Comparison, len(m.Tables) > 1, err))
			}
		}
		switch {
		case t.Verdicts.Disjoint:
			errs = append(errs, exit.NoMeasure(on(t.Comparison, len(m.Tables) > 1, nothingInCommon(t.Comparison))))
		case len(t.Verdicts.All) == 0 && !t.Comparison.Partial: // which is said elsewhere
			errs = append(errs, exit.NoMeasure(on(t.Comparison, len(m.Tables) > 1, errors.New("there is nothing that a threshold is for"))))
		}
	}
	// The first one decides the exit code.
	slices.SortStableFunc(errs, func(a, b error) int { return cmp.Compare(exit.CodeOf(a), exit.CodeOf(b)) })
	return notes, errors.Join(errs...)
}

// nothingInCommon returns the error that nothing was compared, with a hint about renaming.
func nothingInCommon(c *bench.Comparison) error {
	var base, head []string
	for _, p := range c.Pairs {
		if p.Head == nil {
			base = append(base, p.Benchmark)
		} else {
			head = append(head, p.Benchmark)
		}
	}
	hint := "a benchmark is compared with that of the same name: was the suite changed?"
	if c.BaseTestbed == nil {
		hint = "a benchmark of two suites is compared with that of the same name, else a program with that of the same name; to compare one that was renamed: ebpf-bench compare base.o:OLD head.o:NEW"
	}
	return bench.WithHint(fmt.Errorf("nothing was compared: base and head have no benchmark in common, the base has %s and the head %s", cmp.Or(unit.Few(base), "none"), cmp.Or(unit.Few(head), "none")), hint)
}

// verdictError returns nil for a verdict that passes. A benchmark that failed as a whole
// has already been reported.
func (j *Judge) verdictError(v *thresholds.Verdict, strict bool) error {
	if v.Severity != thresholds.Fail || v.Measure.Name == "" {
		return nil
	}
	err := TextOf(v)
	switch {
	case v.Outcome == thresholds.Regression && !j.Elsewhere:
		return exit.Regressed(err)
	case v.Outcome == thresholds.Failed:
		return exit.NoMeasure(err)
	case v.Outcome == thresholds.Inconclusive && strict:
		return exit.NoMeasure(fmt.Errorf("inconclusive: %w", err))
	}
	return nil
}

// TextOf returns a verdict in one line.
func TextOf(v *thresholds.Verdict) error {
	if v.Outcome == thresholds.Removed {
		return fmt.Errorf("%s: removed: %s", v.Benchmark, v.Why)
	}
	return fmt.Errorf("%s: %s: %s", v.Benchmark, v.Measure.Name, v.Why)
}

// on adds the kernel to an error if there are several.
func on(c *bench.Comparison, several bool, err error) error {
	if !several {
		return err
	}
	return fmt.Errorf("on Linux %s: %w", c.Testbed.Kernel, err)
}
