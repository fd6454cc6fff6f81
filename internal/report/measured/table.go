package measured

import (
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// table has all figures of a run, or the cost of a run on each of several
// kernels.
func table(m *Model) *grid.Grid {
	switch {
	case len(m.Tables) > 1:
		return kernelTable(m)
	case len(m.Tables) == 1 && exact(&m.Tables[0]):
		return exactTable(m.Tables[0].Rows)
	case len(m.Tables) == 1:
		return timedTable(m.Tables[0].Rows)
	}
	return new(grid.Grid)
}

// timedTable has all figures of a timed run, without empty columns.
func timedTable(rows []Row) *grid.Grid {
	t := new(grid.Grid).Left("benchmark", "driver").Right("net", "±", "raw", "floor", "runs", "rate")
	more := moreMeasures(rows)
	for _, measure := range more {
		t.Right(measure.Name)
	}
	t.Left("verdict").If(hasAlerts(rows))
	for i := range rows {
		r := &rows[i]
		row := begin(r)
		if cost, ok := r.Cost(); ok || ownMeasures(r) {
			net := grid.Figure(grid.None)
			if cost.Name == bench.Latency.Name {
				net = grid.Figure(unit.NS(cost.Center)).Paint(grid.Bold)
			}
			row = append(row, net, grid.Figure(spread(cost)), cell(r, bench.LatencyRaw), cell(r, bench.LatencyFloor),
				grid.Figure(runCount(r)), cell(r, bench.Throughput))
			for _, measure := range more {
				row = append(row, cell(r, measure))
			}
		} else {
			row = append(row, blank(r))
			row = append(row, make([]grid.Cell, 5+len(more))...)
		}
		t.Row(append(row, budgetVerdict(r))...)
	}
	return t.Filled(3)
}

// begin returns the start of a benchmark's row.
func begin(r *Row) []grid.Cell { return []grid.Cell{grid.Name(r.Benchmark), grid.Word(r.Driver)} }

// ownMeasures reports whether another tool measured something, even if not a
// cost.
func ownMeasures(r *Row) bool {
	return r.Ingested() && slices.ContainsFunc(r.Measures, func(s Summary) bool { return s.N > 0 })
}

// moreMeasures returns the measures that get a column if a benchmark has them,
// including those of another tool.
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

// runCount returns how often the program ran, which another tool does not
// report.
func runCount(r *Row) string {
	if r.Ingested() {
		return grid.None
	}
	return unit.Count(float64(r.Rounds.Runs()))
}

// spread returns the spread of several rounds; that of a single one means
// nothing.
func spread(s Summary) string {
	if s.N < 2 {
		return grid.None
	}
	return unit.NS(s.Spread())
}

// exactTable has all figures of a run in exact mode.
func exactTable(rows []Row) *grid.Grid {
	t := new(grid.Grid).Left("benchmark", "driver").Right("net", "raw", "floor", "path", bench.BPFInsns.Name).Left("verdict").If(hasAlerts(rows))
	for i := range rows {
		r := &rows[i]
		row := begin(r)
		if _, ok := r.Cost(); !ok {
			t.Row(append(row, blank(r))...)
			continue
		}
		t.Row(append(row, cell(r, bench.Instructions).Paint(grid.Bold), cell(r, bench.InstructionsRaw), cell(r, bench.InstructionsFloor),
			cell(r, bench.InstructionsPath), cell(r, bench.BPFInsns), budgetVerdict(r))...)
	}
	return t.Filled(5)
}

// has reports whether any benchmark has the measure.
func has(rows []Row, m bench.Measure) bool {
	return slices.ContainsFunc(rows, func(r Row) bool {
		_, ok := r.Get(m)
		return ok
	})
}

// kernelTable has one column per kernel.
func kernelTable(m *Model) *grid.Grid {
	t := new(grid.Grid).Left("benchmark", "driver").Right(m.kernels()...)
	for _, across := range m.matrix() {
		row := []grid.Cell{grid.Name(across.Benchmark), nil}
		for _, r := range across.On {
			if r == nil {
				row = append(row, grid.Figure(grid.None))
				continue
			}
			row[1] = grid.Word(r.Driver)
			cost, ok := r.Cost()
			if r.Error != "" || !ok {
				row = append(row, blank(r))
				continue
			}
			figure := grid.Figure(report.Center(cost.Summary, cost.Measure))
			if over := budgetVerdict(r); over != nil {
				figure = figure.And(grid.Figure(" "), over)
			}
			row = append(row, figure)
		}
		t.Row(row...)
	}
	return t
}

// matrix joins the benchmarks of all tables.
func (m *Model) matrix() []report.Across[Row] {
	var tables [][]Row
	for _, t := range m.Tables {
		tables = append(tables, t.Rows)
	}
	return report.Matrix(tables, func(r *Row) string { return r.Benchmark })
}

// blank returns the text for a benchmark without a figure.
func blank(r *Row) grid.Cell {
	switch {
	case r.Error == "" && r.Driver == "verify":
		return grid.Figure("loaded")
	case r.Error == "":
		return grid.Figure("not measured")
	}
	return grid.Figure("failed").Paint(grid.Red)
}

func cell(r *Row, m bench.Measure) grid.Cell {
	s, ok := r.Get(m)
	if !ok {
		return grid.Figure(grid.None)
	}
	return grid.Figure(report.Center(s.Summary, s.Measure))
}
