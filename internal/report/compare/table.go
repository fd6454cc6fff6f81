package compare

import (
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
)

// costTable has the cost of a run of each benchmark on both sides, or the
// difference on each of several kernels, for a terminal.
func costTable(m *Model) string {
	switch len(m.Tables) {
	case 0:
		return ""
	case 1:
		rows, note := shown(m, m.Tables[0].rows(), (*row).keep, "benchmarks passed")
		return m.print(costGrid(rows, func(*row) bool { return true }), note)
	}
	rows, note := shown(m, matrix(m), keepAny, "benchmarks passed on all kernels")
	return m.print(matrixGrid(m, rows), note)
}

// print returns a table for a terminal, and a note below it.
func (m *Model) print(t *grid.Grid, note string) string {
	if t.Len() == 0 {
		return note
	}
	return t.Text(m.Columns, m.Color) + "\n" + note
}

// costGrid has the cost of a run for those benchmarks that in selects.
func costGrid(rows []row, in func(*row) bool) *grid.Grid {
	has := columnsOf(rows)
	t := new(grid.Grid).Left("benchmark").Spare("driver").Right("base", "head", "delta").
		Right(intervalHeader(rows)).If(has.interval).Right("would catch").If(has.wouldCatch).Left("verdict")
	for i := range rows {
		if r := &rows[i]; in(r) {
			base, head := r.figures(r.main)
			t.Row(grid.Name(r.Benchmark), grid.Word(r.driver()), grid.Word(base), grid.Word(head), grid.Figure(delta(r.main)),
				grid.Figure(interval(r.main)), grid.Figure(wouldCatch(r.main)), r.verdictCell())
		}
	}
	return t
}

// matrix joins the benchmarks of all tables.
func matrix(m *Model) []report.Across[row] {
	var tables [][]row
	for i := range m.Tables {
		tables = append(tables, m.Tables[i].rows())
	}
	return report.Matrix(tables, func(r *row) string { return r.Benchmark })
}

// keepAny reports whether the row stays because of any kernel.
func keepAny(r *report.Across[row]) bool {
	return slices.ContainsFunc(r.On, func(r *row) bool { return r != nil && r.keep() })
}

// matrixCell returns the delta, and the verdict if it is not a pass.
func matrixCell(r *row) grid.Cell {
	if r == nil {
		return grid.Figure(grid.None)
	}
	d, s := delta(r.main), r.gating()
	switch {
	case s == passed:
		return grid.Figure(d)
	case d == grid.None:
		return r.verdictCell()
	}
	return s.paint(grid.Figure(d + " ")).And(r.verdictCell())
}

// matrixGrid has one column per kernel.
func matrixGrid(m *Model, rows []report.Across[row]) *grid.Grid {
	t := new(grid.Grid).Left("benchmark").Right(m.kernels()...)
	for _, r := range rows {
		cells := []grid.Cell{grid.Name(r.Benchmark)}
		for _, c := range r.On {
			cells = append(cells, matrixCell(c))
		}
		t.Row(cells...)
	}
	return t
}

// ofCompared limits what is said of all benchmarks, if some could not be compared.
func (m *Model) ofCompared() string {
	if m.Doubt() == "" {
		return ""
	}
	return " of those that were compared"
}

// otherTable has the other measures that changed, and says which did not.
func otherTable(m *Model) string {
	found, unchanged := otherFindings(m.rows(), m.Verbose)
	if len(found) == 0 {
		if len(unchanged) == 0 {
			return ""
		}
		return m.wrap("no other measure changed"+m.ofCompared()+": "+escape.Printable(strings.Join(unchanged, ", "))) + "\n"
	}
	rows, note := shown(m, byMeasure(folded(m, smaller(found))), func(f *foldedFinding) bool { return f.standing().listed() && f.standing() != allowed }, "changes of other measures passed")
	t := new(grid.Grid).Left("other measures", "measure").Right("base", "head", "delta").Left("verdict")
	for i := range rows {
		f := &rows[i]
		t.Row(append(f.cells(), f.standing().cell())...)
	}
	return m.print(t, note)
}

// smaller leaves out what did not pass, which is reported elsewhere with the
// same figures.
func smaller(found []finding) []finding {
	return slices.DeleteFunc(found, func(f finding) bool { return f.standing().listed() && f.standing() != allowed })
}

// cells returns the benchmark, the measure and its change.
func (f *foldedFinding) cells() []grid.Cell {
	return []grid.Cell{grid.Name(f.name), grid.Word(f.verdict.Measure.Name), grid.Word(f.base), grid.Word(f.head), grid.Figure(delta(f.verdict))}
}

// byMeasure groups the findings of several kernels about one measure of a
// benchmark.
func byMeasure(found []foldedFinding) []foldedFinding {
	first := map[[2]string]int{}
	key := func(f *foldedFinding) [2]string { return [2]string{f.row.Benchmark, f.verdict.Measure.Name} }
	for i := range found {
		if _, ok := first[key(&found[i])]; !ok {
			first[key(&found[i])] = i
		}
	}
	slices.SortStableFunc(found, func(a, b foldedFinding) int { return first[key(&a)] - first[key(&b)] })
	return found
}
