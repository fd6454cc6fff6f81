package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Text writes the run as a table for a terminal.
func Text(w io.Writer, m *Model) error {
	var b strings.Builder
	b.WriteString(testbedLine(&m.Run.Testbed) + "\n")
	b.WriteString(runLine(m) + "\n\n")
	b.WriteString(resultTable(m) + "\n")
	b.WriteString("\nnet is what the program costs a run: raw less the floor, which is what the kernel charges\n" +
		"an empty program of the same type in the same rounds; ± is half the interquartile range.\n\n")
	for _, r := range m.Rows {
		for _, note := range notes(m, &r) {
			fmt.Fprintf(&b, "%s: %s\n", r.Benchmark, note)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func testbedLine(t *bench.Testbed) string {
	parts := []string{"Linux " + t.Kernel, t.CPU, plural(t.Cores, "core")}
	if t.Virtual != "" {
		parts = append(parts, t.Virtual)
	}
	parts = append(parts, "JIT "+t.JIT)
	return strings.Join(parts, " · ")
}

func runLine(m *Model) string {
	parts := []string{plural(len(m.Rows), "benchmark"), plural(m.Run.Loads, "load"), fmt.Sprintf("%.1f s", m.Run.Elapsed), fmt.Sprintf("seed %d", m.Run.Seed)}
	if n := m.Failed(); n > 0 {
		parts = append(parts, paint(m, text.FgRed, fmt.Sprintf("%d failed", n)))
	}
	if m.Run.Partial {
		parts = append(parts, paint(m, text.FgYellow, "partial: the run was ended early"))
	}
	return strings.Join(parts, " · ")
}

func resultTable(m *Model) string {
	t := newTable()
	t.AppendHeader(table.Row{"benchmark", "driver", "net", "±", "raw", "floor", "runs", "rate"})
	var right []table.ColumnConfig
	for _, name := range []string{"net", "±", "raw", "floor", "runs", "rate"} {
		right = append(right, table.ColumnConfig{Name: name, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for _, r := range m.Rows {
		t.AppendRow(tableRow(m, &r))
	}
	return t.Render()
}

func tableRow(m *Model, r *Row) table.Row {
	row := table.Row{r.Benchmark, r.Driver}
	if len(r.Measures) == 0 {
		return append(row, paint(m, text.FgRed, "failed"))
	}
	net, raw := "-", "-"
	spread, floor, rate := "-", "-", "-"
	if s, ok := r.Get(bench.Latency); ok {
		net, spread = paint(m, text.Bold, unit.NS(s.Center)), unit.NS(s.Spread())
	}
	if s, ok := r.Get(bench.LatencyRaw); ok {
		raw = unit.NS(s.Center)
		if spread == "-" {
			spread = unit.NS(s.Spread())
		}
	}
	if s, ok := r.Get(bench.LatencyFloor); ok {
		floor = unit.NS(s.Center)
	}
	if s, ok := r.Get(bench.Throughput); ok {
		rate = unit.Rate(s.Center)
	}
	return append(row, net, spread, raw, floor, unit.Count(float64(r.Rounds.Runs())), rate)
}

// notes are what a table cell has no room for.
func notes(m *Model, r *Row) []string {
	var all []string
	if t := r.Traffic; t != nil {
		all = append(all, fmt.Sprintf("%s packets sent by %s, %s run, %d dropped, %d unaccounted",
			unit.Count(float64(t.Sent)), strings.ReplaceAll(t.Sender, "_", " "), unit.Count(float64(t.Run)), t.Dropped, t.Unaccounted))
	}
	warning := paint(m, text.FgYellow, "warning: ")
	for _, w := range r.Warnings {
		all = append(all, warning+w)
	}
	for _, s := range r.Measures {
		for _, w := range s.Warnings {
			all = append(all, warning+s.Name+": "+w)
		}
	}
	if r.Error != "" {
		all = append(all, paint(m, text.FgRed, "failed: ")+r.Error)
	}
	return all
}

// newTable is a table as benchstat and bpftool print theirs: columns and no
// lines, because it is read in logs as often as in terminals.
func newTable() table.Writer {
	style := table.StyleDefault
	style.Name = "plain"
	style.Box = table.BoxStyle{PaddingRight: "  "}
	style.Format.Header = text.FormatDefault
	style.Options = table.OptionsNoBordersAndSeparators
	t := table.NewWriter()
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	return t
}

func paint(m *Model, c text.Color, s string) string {
	if !m.Color {
		return s
	}
	return c.EscapeSeq() + s + text.Reset.EscapeSeq()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
