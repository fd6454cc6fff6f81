package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

// judge judges comparisons, one a kernel. Where the history cannot be read,
// which is the error, what is to be judged by it is inconclusive.
func (f *compareFlags) judge(ctx context.Context, t *ui.Terminal, policy *thresholds.Policy, comparisons []*bench.Comparison) (*report.Comparison, error) {
	var tables []report.ComparedTable
	var errs []error
	// What was measured before the comparison was ended is judged all the same.
	ended := func() bool { return ctx.Err() != nil }
	if ended() {
		ended, ctx = nil, context.WithoutCancel(ctx)
	}
	for _, c := range comparisons {
		past, err := f.store.history(ctx, t, policy, headOf(c), c.Base.Branch)
		errs = append(errs, err)
		tables = append(tables, report.ComparedTable{
			Comparison: c,
			Verdicts:   policy.Compare(c, thresholds.Options{Strict: f.strict, History: past, Ended: ended}),
		})
	}
	if ctx.Err() != nil {
		errs = append(errs, errors.New("interrupted: not everything was judged"))
	}
	return report.NewComparison(tables...), exit.NoMeasure(errors.Join(errs...))
}

// verdict turns outcomes into errors, one for each verdict that keeps the
// comparison from passing; what is over budget, it says. Whoever reads Bencher Metric Format judges by its
// own thresholds, and takes a failing command for one that could not measure.
func verdict(term *ui.Terminal, m *report.Comparison, format compareFormat) error {
	var errs []error
	for _, t := range m.Tables {
		for _, v := range t.Verdicts.All {
			if v.Outcome == thresholds.OverBudget && v.Severity == thresholds.Fail && format != "bmf" {
				term.Say("over budget: %v", on(t.Comparison, len(m.Tables) > 1, verdictText(&v)))
				errs = append(errs, exit.Said(exit.Regression))
			}
			if err := verdictError(&v, t.Verdicts.Strict, format); err != nil {
				errs = append(errs, on(t.Comparison, len(m.Tables) > 1, err))
			}
		}
		switch {
		case t.Verdicts.Disjoint:
			errs = append(errs, exit.NoMeasure(on(t.Comparison, len(m.Tables) > 1, nothingInCommon(t.Comparison))))
		case len(t.Verdicts.All) == 0:
			errs = append(errs, exit.NoMeasure(on(t.Comparison, len(m.Tables) > 1, errors.New("there is nothing that a threshold is for"))))
		}
	}
	// The first one decides the exit code.
	slices.SortStableFunc(errs, func(a, b error) int { return cmp.Compare(exit.CodeOf(a), exit.CodeOf(b)) })
	return errors.Join(errs...)
}

// nothingInCommon says that nothing was compared, and what may have to be named
// anew.
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
	return bench.WithHint(fmt.Errorf("nothing was compared: base and head have no benchmark in common, the base has %s and the head %s", fewNames(base), fewNames(head)), hint)
}

func fewNames(names []string) string { return cmp.Or(unit.Few(names), "none") }

// verdictError is nil of a verdict that passes. A benchmark that failed as a
// whole has said so already.
func verdictError(v *thresholds.Verdict, strict bool, format compareFormat) error {
	if v.Severity != thresholds.Fail || v.Measure.Name == "" {
		return nil
	}
	err := verdictText(v)
	switch {
	case v.Outcome == thresholds.Regression && format != "bmf":
		return exit.Regressed(err)
	case v.Outcome == thresholds.Failed:
		return exit.NoMeasure(err)
	case v.Outcome == thresholds.Inconclusive && strict:
		return exit.NoMeasure(fmt.Errorf("inconclusive: %w", err))
	}
	return nil
}

func verdictText(v *thresholds.Verdict) error {
	return fmt.Errorf("%s: %s: %s", v.Benchmark, v.Measure.Name, v.Why)
}

// on says which kernel an error is about where there are several.
func on(c *bench.Comparison, several bool, err error) error {
	if !several {
		return err
	}
	return fmt.Errorf("on Linux %s: %w", c.Testbed.Kernel, err)
}

func (f *compareFlags) print(t *ui.Terminal, m *report.Comparison) error {
	m.Color, m.Columns = t.Colored(t.Stdout), t.Columns()
	m.Explained = f.format == "text" && sameStream(t.Stdout, t.Stderr)
	if err := compareRenderers[f.format](t.Stdout, m); err != nil {
		return exit.NoMeasure(fmt.Errorf("write the comparison: %w", err))
	}
	return nil
}

// compareFormat is the value of compare's --format.
type compareFormat string

var compareRenderers = map[compareFormat]func(io.Writer, *report.Comparison) error{
	"text":     report.CompareText,
	"json":     report.CompareJSON,
	"markdown": func(w io.Writer, m *report.Comparison) error { return report.CompareMarkdown(w, m, 0) },
	"csv":      report.CompareCSV,
	"bmf":      headBMF,
	"gobench":  headAs(report.GoBench),
}

// compareFormats are the formats of comparisons, in the order of the documentation.
var compareFormats = []string{"text", "json", "markdown", "csv", "bmf", "gobench"}

// headBMF writes the head in Bencher Metric Format.
var headBMF = headAs(report.BMF)

// headAs writes the head alone, as a run: Bencher keeps the history itself, and
// benchstat compares files.
func headAs(render func(io.Writer, *report.Model) error) func(io.Writer, *report.Comparison) error {
	return func(w io.Writer, m *report.Comparison) error {
		var runs []*bench.Run
		for _, t := range m.Tables {
			// The head may lack a kernel that the base has.
			if run := headOf(t.Comparison); len(run.Results) > 0 {
				runs = append(runs, run)
			}
		}
		return render(w, report.NewModel(runs...))
	}
}

// headOf is the head of a comparison as a run.
func headOf(c *bench.Comparison) *bench.Run {
	run := &bench.Run{
		Version: bench.RunVersion, Tool: c.Tool, Testbed: c.Testbed, Started: c.Started,
		Elapsed: c.Elapsed, Seed: c.Seed, Partial: c.Partial,
	}
	for _, p := range c.Pairs {
		if p.Head != nil {
			run.Results = append(run.Results, *p.Head)
		}
	}
	return run
}

func (f *compareFormat) String() string { return string(*f) }
func (f *compareFormat) Type() string   { return "format" }

func (f *compareFormat) Set(s string) error {
	if compareRenderers[compareFormat(s)] == nil {
		return errors.New("it is text, json, markdown, csv, bmf or gobench")
	}
	*f = compareFormat(s)
	return nil
}
