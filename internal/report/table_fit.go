package report

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// figureTable is a table of figures that can be made to fit a terminal, which
// would break its lines in the middle of a name or a number.
type figureTable struct {
	header []string
	rows   [][]string
	// names is how many columns hold names, verdict that the last one holds words.
	names   int
	verdict bool
}

// render is the table in so many columns, 0 for any number: without the drivers
// where it is too wide, else with a line for each name, and at the worst with a
// line for each figure.
func (t *figureTable) render(columns int) string {
	whole := t.lines()
	if columns == 0 || Width(whole) <= columns {
		return whole
	}
	if i := slices.Index(t.header, "driver"); i > 0 {
		t = t.without(i)
		if short := t.lines(); Width(short) <= columns {
			return short
		}
	}
	if below := t.below(); widestBut(below, t.rows) <= columns {
		return below
	}
	return t.list()
}

// lines is the table with a line for each row.
func (t *figureTable) lines() string {
	out := newTable(t.names, t.header...)
	if t.verdict {
		out = newVerdictTable(t.names, t.header...)
	}
	for _, row := range t.rows {
		var cells table.Row
		for _, c := range row {
			cells = append(cells, c)
		}
		out.AppendRow(cells)
	}
	return out.Render()
}

// without is the table without a column of names.
func (t *figureTable) without(column int) *figureTable {
	names := t.names
	if column < names {
		names--
	}
	other := &figureTable{names: names, verdict: t.verdict, header: slices.Delete(slices.Clone(t.header), column, column+1)}
	for _, row := range t.rows {
		other.rows = append(other.rows, slices.Delete(slices.Clone(row), column, column+1))
	}
	return other
}

// filled is the table without the columns in which no row has a figure, but for the
// first few.
func (t *figureTable) filled(keep int) *figureTable {
	for i := len(t.header) - 1; i >= keep; i-- {
		if !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" && row[i] != none }) {
			t = t.without(i)
		}
	}
	return t
}

// below is the table with the figures below their names.
func (t *figureTable) below() string {
	lines := strings.Split(t.without(0).lines(), "\n")
	all := []string{t.header[0], "  " + lines[0]}
	for i, row := range t.rows {
		all = append(all, row[0], "  "+lines[i+1])
	}
	return strings.Join(all, "\n")
}

// list has each figure on a line of its own, behind its name.
func (t *figureTable) list() string {
	width := 0
	for _, h := range t.header[1:] {
		width = max(width, text.StringWidthWithoutEscSequences(h))
	}
	var all []string
	for _, row := range t.rows {
		all = append(all, row[0])
		for i, cell := range row[1:] {
			all = append(all, "  "+text.Pad(t.header[i+1], width, ' ')+"  "+cell)
		}
	}
	return strings.Join(all, "\n")
}

// Width is the width of the widest line of a text.
func Width(s string) int {
	width := 0
	for line := range strings.Lines(s) {
		width = max(width, text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")))
	}
	return width
}

// widestBut is the width of the widest line that is no name: a name stays whole,
// however long it is.
func widestBut(s string, rows [][]string) int {
	width := 0
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		if !slices.ContainsFunc(rows, func(row []string) bool { return row[0] == line }) {
			width = max(width, text.StringWidthWithoutEscSequences(line))
		}
	}
	return width
}
