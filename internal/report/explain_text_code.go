package report

import (
	"fmt"
	"regexp"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
)

// code adds the instructions of a line, those of both sides once where they are
// the same.
func (e *textProgram) code(t *lineTable, l *bench.Line) {
	for _, c := range codeRows(e.p, l) {
		var row []string
		if e.p.two() {
			row = []string{c.base, c.head, ""}
		} else {
			row = []string{c.head, ""}
		}
		for len(row) < len(t.header) {
			row = append(row, "")
		}
		t.add(row, "  "+c.text)
	}
}

// codeRow is an instruction of one side or of both.
type codeRow struct{ base, head, text string }

// codeRows are the instructions of a line: those that only the base has behind a
// minus, those that only the head has behind a plus.
func codeRows(p *explained, l *bench.Line) []codeRow {
	var base, head []bench.Code
	if l.Base != nil {
		base = l.Base.Code
	}
	if l.Head != nil {
		head = l.Head.Code
	}
	var rows []codeRow
	switch {
	case !p.two() && p.Head == nil:
		head, base = base, nil
		fallthrough
	case !p.two():
		for i := range head {
			rows = append(rows, codeRow{"", insns(head[i].PerRun), codeText("", &head[i])})
		}
		return rows
	case sameCode(base, head):
		for i := range head {
			rows = append(rows, codeRow{insns(base[i].PerRun), insns(head[i].PerRun), codeText("", &head[i])})
		}
		return rows
	}
	for i := range base {
		rows = append(rows, codeRow{insns(base[i].PerRun), "", codeText("- ", &base[i])})
	}
	for i := range head {
		rows = append(rows, codeRow{"", insns(head[i].PerRun), codeText("+ ", &head[i])})
	}
	return rows
}

// label is where a jump leads, by a name that is made up anew for each program.
var label = regexp.MustCompile(` <\.L\d+>`)

func sameCode(a, b []bench.Code) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if label.ReplaceAllString(a[i].Text, "") != label.ReplaceAllString(b[i].Text, "") {
			return false
		}
	}
	return true
}

// codeText is such as "12: r1 += r2  ≈1".
func codeText(sign string, c *bench.Code) string {
	s := fmt.Sprintf("%s%d: %s", sign, c.Offset, escape.Printable(c.Text))
	if c.Machine != nil {
		s += fmt.Sprintf("  ≈%d", *c.Machine)
	}
	return s
}
