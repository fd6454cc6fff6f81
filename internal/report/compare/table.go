package compare

import (
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/thresholds"
)

// costTable has what a run of each benchmark costs on both sides.
func costTable(m *Model) string {
	all := m.Tables[0].rows()
	rows, note := shown(m, all, (*row).keep, "benchmarks passed")
	if len(rows) == 0 {
		return note
	}
	has := columnsOf(rows)
	header := []string{"benchmark", "driver", "base", "head", "delta"}
	if has.interval {
		header = append(header, intervalHeader(rows))
	}
	if has.wouldCatch {
		header = append(header, "would catch")
	}
	t := grid.Figures{Names: 2, Verdict: true, Header: append(header, "verdict")}
	for i := range rows {
		r := &rows[i]
		base, head := r.figures(r.main)
		cells := []string{escape.Printable(r.Benchmark), escape.Printable(r.driver()), base, head, delta(r.main)}
		if has.interval {
			cells = append(cells, interval(r.main))
		}
		if has.wouldCatch {
			cells = append(cells, wouldCatch(r.main))
		}
		t.Rows = append(t.Rows, append(cells, r.gating().paint(m.Color, r.verdictWord())))
	}
	return t.Render(m.Columns) + "\n" + note
}

// matrixRow is a benchmark on all kernels: nil where a kernel does not have it.
type matrixRow struct {
	name  string
	cells []*row
}

// matrix joins the benchmarks of all tables by name.
func matrix(m *Model) []matrixRow {
	var rows []matrixRow
	at := map[string]int{}
	for k := range m.Tables {
		table := m.Tables[k].rows()
		for i := range table {
			r := &table[i]
			n, ok := at[r.Benchmark]
			if !ok {
				n = len(rows)
				at[r.Benchmark] = n
				rows = append(rows, matrixRow{r.Benchmark, make([]*row, len(m.Tables))})
			}
			rows[n].cells[k] = r
		}
	}
	return rows
}

// keep tells whether any kernel has something to say.
func (r *matrixRow) keep() bool {
	for _, c := range r.cells {
		if c != nil && c.keep() {
			return true
		}
	}
	return false
}

// matrixCell is the delta, and the verdict where it is no pass.
func matrixCell(r *row) string {
	if r == nil {
		return grid.None
	}
	d, s := delta(r.main), r.gating()
	switch {
	case s == passed:
		return d
	case d == grid.None:
		return r.verdictWord()
	}
	return d + " " + r.verdictWord()
}

// matrixTable has a column a kernel.
func matrixTable(m *Model) string {
	rows, note := shown(m, matrix(m), (*matrixRow).keep, "benchmarks passed on all kernels")
	if len(rows) == 0 {
		return note
	}
	header := []string{"benchmark"}
	for _, kernel := range m.kernels() {
		header = append(header, escape.Printable(kernel))
	}
	t := grid.Figures{Names: 1, Header: header}
	for _, r := range rows {
		cells := []string{escape.Printable(r.name)}
		for _, c := range r.cells {
			text := matrixCell(c)
			if c != nil {
				text = c.gating().paint(m.Color, text)
			}
			cells = append(cells, text)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t.Render(m.Columns) + "\n" + note
}

// otherTable has the other measures that changed, and says which did not.
func otherTable(m *Model) string {
	found, unchanged := otherFindings(m.rows(), m.Verbose)
	if len(found) == 0 {
		if len(unchanged) == 0 {
			return ""
		}
		return m.wrap("no other measure changed: "+strings.Join(unchanged, ", ")) + "\n"
	}
	// What did not pass has a line of its own below, with the same figures.
	found = slices.DeleteFunc(found, func(f finding) bool { return f.standing().said() && f.standing() != allowed })
	rows, note := shown(m, byMeasure(folded(m, found)), func(f *foldedFinding) bool { return f.standing().said() && f.standing() != allowed }, "changes of other measures passed")
	if len(rows) == 0 {
		return note
	}
	t := grid.Figures{Names: 2, Verdict: true, Header: []string{"other measures", "measure", "base", "head", "delta", "verdict"}}
	for _, f := range rows {
		t.Rows = append(t.Rows, []string{escape.Printable(f.name), measureName(f.verdict), f.base, f.head, delta(f.verdict), word(m, f.verdict)})
	}
	return t.Render(m.Columns) + "\n" + note
}

// byMeasure keeps what several kernels say of a measure of a benchmark together.
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

// word is a verdict as a cell.
func word(m *Model, v *thresholds.Verdict) string {
	s := standingOf(v)
	return s.paint(m.Color, s.String())
}
