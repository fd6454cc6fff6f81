package grid

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// None stands where there is no figure.
const None = "-"

// Figures is a table of figures that can be made to fit a terminal, which
// would break its lines in the middle of a name or a number.
type Figures struct {
	Header []string
	Rows   [][]string
	// Names is how many columns hold names, Verdict that the last one holds words.
	Names   int
	Verdict bool
}

// Render is the table in so many columns, 0 for any number: without the drivers
// where it is too wide, else with a line for each name, and at the worst with a
// line for each figure.
func (t *Figures) Render(columns int) string {
	whole := t.lines()
	if columns == 0 || Width(whole) <= columns {
		return whole
	}
	if i := slices.Index(t.Header, "driver"); i > 0 {
		t = t.without(i)
		if short := t.lines(); Width(short) <= columns {
			return short
		}
	}
	if below := t.below(); widestBut(below, t.Rows) <= columns {
		return below
	}
	return t.list()
}

// lines is the table with a line for each row.
func (t *Figures) lines() string {
	out := New(t.Names, t.Header...)
	if t.Verdict {
		out = NewVerdict(t.Names, t.Header...)
	}
	for _, row := range t.Rows {
		var cells table.Row
		for _, c := range row {
			cells = append(cells, c)
		}
		out.AppendRow(cells)
	}
	return out.Render()
}

// without is the table without a column of names.
func (t *Figures) without(column int) *Figures {
	names := t.Names
	if column < names {
		names--
	}
	other := &Figures{Names: names, Verdict: t.Verdict, Header: slices.Delete(slices.Clone(t.Header), column, column+1)}
	for _, row := range t.Rows {
		other.Rows = append(other.Rows, slices.Delete(slices.Clone(row), column, column+1))
	}
	return other
}

// Filled is the table without the columns in which no row has a figure, but for the
// first few.
func (t *Figures) Filled(keep int) *Figures {
	for i := len(t.Header) - 1; i >= keep; i-- {
		if !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != "" && row[i] != None }) {
			t = t.without(i)
		}
	}
	return t
}

// below is the table with the figures below their names.
func (t *Figures) below() string {
	lines := strings.Split(t.without(0).lines(), "\n")
	all := []string{t.Header[0], "  " + lines[0]}
	for i, row := range t.Rows {
		all = append(all, row[0], "  "+lines[i+1])
	}
	return strings.Join(all, "\n")
}

// list has each figure on a line of its own, behind its name.
func (t *Figures) list() string {
	width := 0
	for _, h := range t.Header[1:] {
		width = max(width, text.StringWidthWithoutEscSequences(h))
	}
	var all []string
	for _, row := range t.Rows {
		all = append(all, row[0])
		for i, cell := range row[1:] {
			all = append(all, "  "+text.Pad(t.Header[i+1], width, ' ')+"  "+cell)
		}
	}
	return strings.Join(all, "\n")
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

// New is a table as benchstat and bpftool print theirs: columns and no
// lines, because it is read in logs as often as in terminals. All columns
// but the first few hold numbers.
func New(names int, header ...string) table.Writer {
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
	t.SetColumnConfigs(RightAligned(names, len(header)))
	return t
}

// NewVerdict is such a table whose last column holds words too.
func NewVerdict(names int, header ...string) table.Writer {
	t := New(names, header...)
	t.SetColumnConfigs(RightAligned(names, len(header)-1))
	return t
}

// RightAligned are the columns from one number to before another, from 0.
func RightAligned(from, to int) []table.ColumnConfig {
	var right []table.ColumnConfig
	for i := from; i < to; i++ {
		right = append(right, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return right
}
