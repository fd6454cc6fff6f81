package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Text writes a judged comparison for a terminal: one kernel with all its
// figures, or several side by side; then what did not pass and why, and a line
// that counts everything.
func Text(w io.Writer, m *Model) error {
	var b strings.Builder
	for _, line := range head(m).Wrapped(len(m.Tables)) {
		b.WriteString(m.wrap(line) + "\n")
	}
	rows := m.rows()
	about := strings.Join(legend(m), " ")
	if m.Brief && about != "" {
		about = report.ExplainColumns
	}
	for _, part := range []string{
		costTable(m), otherTable(m), whyText(m, rows), warningText(m, rows), noteText(m, rows),
		grid.Wrap(about, m.textWidth(), 0, 0), m.wrap(tally(m)),
	} {
		if part = strings.TrimRight(part, "\n"); part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(part + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap breaks a line that is too wide for the terminal. Elsewhere lines stay
// whole, because people search for them.
func (m *Model) wrap(line string) string {
	if m.Columns == 0 || grid.Width(line) <= m.Columns {
		return line
	}
	return grid.Wrap(line, m.Columns, 0, 2)
}

// textWidth returns the width of running text.
func (m *Model) textWidth() int {
	if m.Columns == 0 {
		return grid.TextWidth
	}
	return min(m.Columns, grid.TextWidth)
}

func whyText(m *Model, rows []row) string {
	var b strings.Builder
	found := findings(rows, m.Verbose)
	if m.Explained {
		found = slices.DeleteFunc(found, func(f finding) bool { return f.standing() == failed && f.verdict.Measure.Name == "" })
	}
	for _, l := range whys(m, found) {
		b.WriteString(m.wrap(l.cell(m).Text(m.Color)) + "\n")
		for i := range l.dearest {
			b.WriteString("    " + report.LineText(&l.dearest[i], grid.MaxWidth-4) + "\n")
		}
	}
	return b.String()
}

func warningText(m *Model, rows []row) string {
	var b strings.Builder
	for _, l := range warnings(m, rows) {
		c := l.who(m).And(grid.Figure(": "), grid.Figure("warning: ").Paint(grid.Yellow), grid.Word(l.text))
		b.WriteString(m.wrap(c.Text(m.Color)) + "\n")
	}
	return b.String()
}

func noteText(m *Model, rows []row) string {
	var b strings.Builder
	for _, l := range notes(rows) {
		b.WriteString(m.wrap(l.who(m).And(grid.Figure(": "), grid.Word(l.text)).Text(m.Color)) + "\n")
	}
	return b.String()
}

// head says what was measured on which machines.
func head(m *Model) *report.Heads {
	h := new(report.Heads)
	kernels := m.kernels()
	for i := range m.Tables {
		h.Add(&m.Tables[i].Testbed, kernels[i], headLines(m.Color, &m.Tables[i])...)
	}
	return h
}

// headLines say what was compared: the two sides, and the machine of the base
// if it is another one.
func headLines(color bool, t *Table) []string {
	var lines []string
	if t.BaseTestbed != nil {
		if base := report.TestbedLine(t.BaseTestbed); base != report.TestbedLine(&t.Testbed) {
			lines = append(lines, "base on "+base)
		}
	}
	parts := []string{"base " + report.SideName(&t.Base), "head " + report.SideName(&t.Head)}
	if t.Shard != nil {
		parts = append(parts, "shard "+t.Shard.String())
	}
	parts = append(parts, t.manner())
	if t.Elapsed > 0 {
		parts = append(parts, fmt.Sprintf("%.1f s", t.Elapsed))
	}
	if t.paired() {
		parts = append(parts, fmt.Sprintf("seed %d", t.Seed))
	}
	if t.Partial || len(t.MissingKernels) > 0 {
		parts = append(parts, grid.Paint(color, grid.Yellow, "partial: "+t.whyPartial()))
	}
	return append(lines, strings.Join(parts, " · "))
}

// manner says how the two sides were measured.
func (t *Table) manner() string {
	switch {
	case t.exact() && t.BaseTestbed != nil:
		return "exact: instructions counted, not timed, the base's stored"
	case t.exact():
		return "exact: instructions counted, not timed"
	case t.stored():
		return "stored numbers, not paired"
	case t.Verdicts.Disjoint:
		return "loaded, with nothing to compare"
	case t.identical():
		return "identical, measured once"
	case !t.paired():
		return "nothing timed"
	}
	loads := 0
	for i := range t.Verdicts.All {
		if c := t.Verdicts.All[i].Change; c != nil && c.Paired {
			loads = max(loads, c.Loads)
		}
	}
	if loads == 0 {
		return "paired"
	}
	return "paired, " + unit.Plural(loads, "load")
}
