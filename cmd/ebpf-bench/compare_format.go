package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/ui"
)

func printComparison(t *ui.Terminal, format compareFormat, verbose bool, m *report.Comparison) error {
	m.Color, m.Columns, m.Verbose = t.Colored(t.Stdout), t.Columns(), verbose
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
	"bmf":      report.OfHead(report.BMF),
	"gobench":  report.OfHead(report.GoBench),
}

// compareFormats are the formats of comparisons, in the order of the documentation.
var compareFormats = []string{"text", "json", "markdown", "csv", "bmf", "gobench"}

func (f *compareFormat) String() string { return string(*f) }
func (f *compareFormat) Type() string   { return "format" }

func (f *compareFormat) Set(s string) error {
	if compareRenderers[compareFormat(s)] == nil {
		return errors.New("it is text, json, markdown, csv, bmf or gobench")
	}
	*f = compareFormat(s)
	return nil
}
