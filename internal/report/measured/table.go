package measured

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
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
	t := grid.Figures{Names: 2, Verdict: hasAlerts(rows), Header: []string{"benchmark", "driver", "net", "±", "raw", "floor", "runs", "rate"}}
	more := moreMeasures(rows)
	for _, measure := range more {
		t.Header = append(t.Header, escape.Printable(measure.Name))
	}
	if t.Verdict {
		t.Header = append(t.Header, "verdict")
	}
	for _, r := range rows {
		row := []string{escape.Printable(r.Benchmark), escape.Printable(r.Driver)}
		if cost, ok := r.Cost(); ok || ownMeasures(&r) {
			net := grid.None
			if cost.Name == bench.Latency.Name {
				net = grid.Paint(m.Color, text.Bold, unit.NS(cost.Center))
			}
			row = append(row, net, spread(cost), cell(&r, bench.LatencyRaw), cell(&r, bench.LatencyFloor),
				runCount(&r), cell(&r, bench.Throughput))
			for _, measure := range more {
				row = append(row, cell(&r, measure))
			}
		} else {
			row = append(row, blank(m, &r))
		}
		row = append(row, make([]string, len(t.Header)-len(row))...)
		if t.Verdict {
			row[len(row)-1] = budgetVerdict(m, &r)
		}
		t.Rows = append(t.Rows, row)
	}
	return t.Filled(3).Render(0)
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
		row = append(row, grid.Paint(m.Color, text.Bold, cell(&r, bench.Instructions)),
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
	out := grid.New(2, header...)
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
	return grid.Paint(m.Color, text.FgRed, "failed")
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
func figure(s Summary) string {
	return report.About(s.Summary, s.Measure) + report.Number(s.Center, s.Measure)
}

// newBudgetTable is such a table of one run, with a column for what is over its
// budget if anything is.
func newBudgetTable(m *Model, header ...string) table.Writer {
	if !hasAlerts(m.Tables[0].Rows) {
		return grid.New(2, header...)
	}
	return grid.NewVerdict(2, append(header, "verdict")...)
}
