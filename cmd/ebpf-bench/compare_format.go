package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/ui"
)

func printComparison(t *ui.Terminal, format compareFormat, m *report.Comparison) error {
	m.Color, m.Columns = t.Colored(t.Stdout), t.Columns()
	m.Explained = format == "text" && sameStream(t.Stdout, t.Stderr)
	if err := compareRenderers[format](t.Stdout, m); err != nil {
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
			if run := t.HeadRun(); len(run.Results) > 0 {
				runs = append(runs, run)
			}
		}
		return render(w, report.NewModel(runs...))
	}
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
