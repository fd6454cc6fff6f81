package report

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/unit"
)

func resultTable(m *Model) string {
	switch {
	case len(m.Tables) > 1:
		return kernelTable(m)
	case len(m.Tables) == 1 && exact(&m.Tables[0]):
		return exactTable(m)
	case len(m.Tables) == 1:
		return timedTable(m)
	}
	return ""
}

// timedTable has all figures of a run that was timed, but for columns in which
// nothing stands.
func timedTable(m *Model) string {
	rows := m.Tables[0].Rows
	t := figureTable{names: 2, verdict: hasAlerts(rows), header: []string{"benchmark", "driver", "net", "±", "raw", "floor", "runs", "rate"}}
	more := moreMeasures(rows)
	for _, measure := range more {
		t.header = append(t.header, escape.Printable(measure.Name))
	}
	if t.verdict {
		t.header = append(t.header, "verdict")
	}
	for _, r := range rows {
		row := []string{escape.Printable(r.Benchmark), escape.Printable(r.Driver)}
		if cost, ok := r.Cost(); ok || ownMeasures(&r) {
			net := none
			if cost.Name == bench.Latency.Name {
				net = paint(m.Color, text.Bold, unit.NS(cost.Center))
			}
			row = append(row, net, spread(cost), cell(&r, bench.LatencyRaw), cell(&r, bench.LatencyFloor),
				runCount(&r), cell(&r, bench.Throughput))
			for _, measure := range more {
				row = append(row, cell(&r, measure))
			}
		} else {
			row = append(row, blank(m, &r))
		}
		row = append(row, make([]string, len(t.header)-len(row))...)
		if t.verdict {
			row[len(row)-1] = budgetVerdict(m, &r)
		}
		t.rows = append(t.rows, row)
	}
	return t.filled(3).render(0)
}

// ownMeasures tells whether another tool measured something, be it no cost at all.
func ownMeasures(r *Row) bool {
	return r.Ingested() && slices.ContainsFunc(r.Measures, func(s Summary) bool { return s.N > 0 })
}

// moreMeasures are those that have a column where a benchmark has them: also the
// ones of another tool.
func moreMeasures(rows []Row) []bench.Measure {
	var all []bench.Measure
	for _, measure := range []bench.Measure{bench.BPFInsns, bench.Allocs, bench.HeapBytes} {
		if has(rows, measure) {
			all = append(all, measure)
		}
	}
	for _, r := range rows {
		for _, s := range r.Measures {
			if bench.IsCustom(s.Name) && has(rows, s.Measure) && !slices.ContainsFunc(all, func(m bench.Measure) bool { return m.Name == s.Name }) {
				all = append(all, s.Measure)
			}
		}
	}
	return all
}

// runCount is how often the program ran, which another tool does not say.
func runCount(r *Row) string {
	if r.Ingested() {
		return "-"
	}
	return unit.Count(float64(r.Rounds.Runs()))
}

// spread of a single round says nothing.
func spread(s Summary) string {
	if s.N < 2 {
		return "-"
	}
	return unit.NS(s.Spread())
}

// exactTable has all figures of a run that was counted.
func exactTable(m *Model) string {
	header := []string{"benchmark", "driver", "net", "raw", "floor"}
	path, counted := has(m.Tables[0].Rows, bench.InstructionsPath), has(m.Tables[0].Rows, bench.BPFInsns)
	if path {
		header = append(header, "path")
	}
	if counted {
		header = append(header, bench.BPFInsns.Name)
	}
	t := newBudgetTable(m, header...)
	for _, r := range m.Tables[0].Rows {
		row := table.Row{escape.Printable(r.Benchmark), escape.Printable(r.Driver)}
		if _, ok := r.Cost(); !ok {
			t.AppendRow(append(row, blank(m, &r)))
			continue
		}
		row = append(row, paint(m.Color, text.Bold, cell(&r, bench.Instructions)),
			cell(&r, bench.InstructionsRaw), cell(&r, bench.InstructionsFloor))
		if path {
			row = append(row, cell(&r, bench.InstructionsPath))
		}
		if counted {
			row = append(row, cell(&r, bench.BPFInsns))
		}
		t.AppendRow(append(row, budgetVerdict(m, &r)))
	}
	return t.Render()
}

// has tells whether a measure is known of any benchmark.
func has(rows []Row, m bench.Measure) bool {
	return slices.ContainsFunc(rows, func(r Row) bool {
		_, ok := r.Get(m)
		return ok
	})
}

// kernelTable has a column a kernel.
func kernelTable(m *Model) string {
	header := []string{"benchmark", "driver"}
	for _, kernel := range m.kernels() {
		header = append(header, escape.Printable(kernel))
	}
	out := newTable(2, header...)
	for _, name := range names(m) {
		row := table.Row{escape.Printable(name), ""}
		for i := range m.Tables {
			r := m.Tables[i].find(name)
			if r == nil {
				row = append(row, "-")
				continue
			}
			row[1] = escape.Printable(r.Driver)
			cost, ok := r.Cost()
			switch {
			case r.Error != "" || !ok:
				row = append(row, blank(m, r))
			default:
				row = append(row, strings.TrimSpace(figure(cost)+" "+budgetVerdict(m, r)))
			}
		}
		out.AppendRow(row)
	}
	return out.Render()
}

// names lists the benchmarks of all tables, each once, in their order.
func names(m *Model) []string {
	var all []string
	seen := map[string]bool{}
	for _, t := range m.Tables {
		for _, r := range t.Rows {
			if !seen[r.Benchmark] {
				seen[r.Benchmark] = true
				all = append(all, r.Benchmark)
			}
		}
	}
	return all
}

func (t *Table) find(name string) *Row {
	for i := range t.Rows {
		if t.Rows[i].Benchmark == name {
			return &t.Rows[i]
		}
	}
	return nil
}

// blank is what stands where a benchmark has no figure.
func blank(m *Model, r *Row) string {
	switch {
	case r.Error == "" && r.Driver == "verify":
		return "loaded"
	case r.Error == "":
		return "not measured"
	}
	return paint(m.Color, text.FgRed, "failed")
}

func cell(r *Row, m bench.Measure) string {
	s, ok := r.Get(m)
	if !ok {
		return "-"
	}
	return figure(s)
}

// figure prints a summary's center: rounded where it was timed, every digit
// where it was counted, and two decimals where that is a mean.
func figure(s Summary) string { return about(s.Summary, s.Measure) + number(s.Center, s.Measure) }

// about is ~ before an exact count that was not the same each time.
func about(s stat.Summary, m bench.Measure) string {
	if m.Exact && s.Low != s.High {
		return "~"
	}
	return ""
}

func number(v float64, m bench.Measure) string {
	switch {
	case m.Exact:
		return unit.Mean(v)
	case bench.IsCustom(m.Name):
		return unit.Count(v) // of which the name is the unit
	}
	return escape.Printable(unit.Format(v, m.Unit))
}

// newTable is a table as benchstat and bpftool print theirs: columns and no
// lines, because it is read in logs as often as in terminals. All columns
// but the first few hold numbers.
func newTable(names int, header ...string) table.Writer {
	style := table.StyleDefault
	style.Name = "plain"
	style.Box = table.BoxStyle{PaddingRight: "  "}
	style.Format.Header = text.FormatDefault
	style.Options = table.OptionsNoBordersAndSeparators
	t := table.NewWriter()
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	row := table.Row{}
	for _, name := range header {
		row = append(row, name)
	}
	t.AppendHeader(row)
	t.SetColumnConfigs(rightAligned(names, len(header)))
	return t
}

// newBudgetTable is such a table of one run, with a column for what is over its
// budget if anything is.
func newBudgetTable(m *Model, header ...string) table.Writer {
	if !hasAlerts(m.Tables[0].Rows) {
		return newTable(2, header...)
	}
	return newVerdictTable(2, append(header, "verdict")...)
}

// newVerdictTable is such a table whose last column holds words too.
func newVerdictTable(names int, header ...string) table.Writer {
	t := newTable(names, header...)
	t.SetColumnConfigs(rightAligned(names, len(header)-1))
	return t
}

// rightAligned are the columns from one number to before another, from 0.
func rightAligned(from, to int) []table.ColumnConfig {
	var right []table.ColumnConfig
	for i := from; i < to; i++ {
		right = append(right, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return right
}
