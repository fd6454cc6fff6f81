package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// CompareText writes a judged comparison for a terminal: one kernel with all
// its figures, or several side by side; then what did not pass and why, and a
// line that counts everything.
func CompareText(w io.Writer, m *Comparison) error {
	var b strings.Builder
	for _, line := range comparedHead(m) {
		b.WriteString(m.wrap(line) + "\n")
	}
	rows := m.rows()
	for _, part := range []string{
		figuresText(m, rows), otherTable(m), whyText(m, rows), warningText(m, rows),
		wrap(strings.Join(compareLegend(m), " "), "", m.textWidth()), m.wrap(tally(m)),
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

// wrap breaks a line that is too wide for the terminal. Elsewhere lines are
// searched for, and stay whole.
func (m *Comparison) wrap(line string) string {
	if m.Columns == 0 || Width(line) <= m.Columns {
		return line
	}
	return wrap(line, "  ", m.Columns)
}

// textWidth is how wide running text is.
func (m *Comparison) textWidth() int {
	if m.Columns == 0 {
		return textWidth
	}
	return min(m.Columns, textWidth)
}

func figuresText(m *Comparison, rows []comparedRow) string {
	switch {
	case len(rows) == 0:
		return ""
	case len(m.Tables) > 1:
		return matrixTable(m)
	}
	return costTable(m)
}

func whyText(m *Comparison, rows []comparedRow) string {
	var b strings.Builder
	found := findings(rows, m.Verbose)
	if m.Explained {
		found = slices.DeleteFunc(found, func(f finding) bool { return f.standing() == failed && f.verdict.Measure.Name == "" })
	}
	for _, l := range whys(m, found) {
		parts := []string{l.who(m, escape.Printable)}
		if len(l.measures) > 0 {
			parts = append(parts, few(l.measures, escape.Printable))
		}
		parts = append(parts, l.standing.paint(m.Color, l.standing.String()), l.evidence())
		b.WriteString(m.wrap(strings.Join(parts, ": ")) + "\n")
		for i := range l.dearest {
			b.WriteString("    " + LineText(&l.dearest[i], maxWidth-4) + "\n")
		}
	}
	return b.String()
}

func warningText(m *Comparison, rows []comparedRow) string {
	var b strings.Builder
	for _, l := range warnings(m, rows) {
		b.WriteString(m.wrap(l.who(m, escape.Printable)+": "+paint(m.Color, text.FgYellow, "warning: ")+escape.Printable(l.text)) + "\n")
	}
	return b.String()
}

// comparedHead says what was measured on which machines.
func comparedHead(m *Comparison) []string {
	var h heads
	kernels := m.kernels()
	for i := range m.Tables {
		h.add(&m.Tables[i].Testbed, kernels[i], headLines(m.Color, &m.Tables[i])...)
	}
	return h.lines(len(m.Tables))
}

// headLines say what was compared: the two sides, and the machine of the base if
// it is another one.
func headLines(color bool, t *ComparedTable) []string {
	var lines []string
	if t.BaseTestbed != nil {
		if base := testbedLine(t.BaseTestbed); base != testbedLine(&t.Testbed) {
			lines = append(lines, "base on "+base)
		}
	}
	parts := []string{"base " + sideName(&t.Base), "head " + sideName(&t.Head)}
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
	if t.Partial {
		parts = append(parts, paint(color, text.FgYellow, "partial: "+t.whyPartial()))
	}
	return append(lines, strings.Join(parts, " · "))
}

// manner is how the two sides were measured.
func (t *ComparedTable) manner() string {
	switch {
	case t.exact() && t.BaseTestbed != nil:
		return "exact: instructions counted, not timed, the base's stored"
	case t.exact():
		return "exact: instructions counted, not timed"
	case t.stored():
		return "stored numbers, not paired"
	case t.Verdicts.Disjoint:
		return "loaded, with nothing to compare"
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

// sideName is what the user called a side, with its commit where that is known.
func sideName(s *bench.Side) string {
	name, commit := escape.Printable(s.Name), fmt.Sprintf("%.7s", escape.Printable(s.Commit))
	if name == "" {
		name = escape.Printable(s.Branch)
	}
	switch {
	case commit == "":
		return name
	case name == "":
		return commit
	}
	return name + " (" + commit + ")"
}
