package grid

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Grid is a table: a header, and rows of cells.
type Grid struct {
	columns []column
	rows    [][]Cell
}

type column struct {
	head string
	// right aligns its cells to the right, like figures.
	right bool
	// spare says that it is the first to be dropped if a terminal is too
	// narrow.
	spare bool
	// rest says that it gets the remaining room.
	rest bool
	// absent says that it is left out.
	absent bool
}

// Left adds columns of words.
func (g *Grid) Left(heads ...string) *Grid { return g.add(column{}, heads) }

// Right adds columns of figures.
func (g *Grid) Right(heads ...string) *Grid { return g.add(column{right: true}, heads) }

// Spare adds a column that is left out if a terminal is too narrow for all.
func (g *Grid) Spare(head string) *Grid { return g.add(column{spare: true}, []string{head}) }

// Rest adds the last column. If a terminal is too narrow, its texts are cut, or
// placed below their rows.
func (g *Grid) Rest(head string) *Grid { return g.add(column{rest: true}, []string{head}) }

func (g *Grid) add(c column, heads []string) *Grid {
	for _, c.head = range heads {
		g.columns = append(g.columns, c)
	}
	return g
}

// If leaves out the last added column unless there is true. Rows still have a
// cell for it.
func (g *Grid) If(present bool) *Grid {
	g.columns[len(g.columns)-1].absent = !present
	return g
}

// Row adds a row. The last cells may be missing.
func (g *Grid) Row(cells ...Cell) {
	g.rows = append(g.rows, append(cells, make([]Cell, len(g.columns)-len(cells))...))
}

// Len returns the number of rows.
func (g *Grid) Len() int { return len(g.rows) }

// Filled leaves out the columns in which no row has anything, except the first
// keep.
func (g *Grid) Filled(keep int) *Grid {
	for i := keep; i < len(g.columns); i++ {
		if !slices.ContainsFunc(g.rows, func(row []Cell) bool { s := row[i].Text(false); return s != "" && s != None }) {
			g.columns[i].absent = true
		}
	}
	return g
}

// Text returns the table for a terminal with this many columns; 0 means any
// number. It looks like those of benchstat and bpftool: columns and no lines,
// because logs contain it as often as terminals. A terminal that is too narrow
// would break lines in the middle of a name or a number. So it gets the table
// without its spare column, or else with a separate line for each name, or at
// worst with a line for each figure.
func (g *Grid) Text(columns int, color bool) string {
	return strings.Join(g.sheet(color).fit(columns), "\n")
}

// sheet is a table of printed texts.
type sheet struct {
	columns []column
	heads   []string
	rows    [][]string
}

func (g *Grid) sheet(color bool) *sheet {
	s := &sheet{rows: make([][]string, len(g.rows))}
	for i, c := range g.columns {
		if c.absent {
			continue
		}
		s.columns, s.heads = append(s.columns, c), append(s.heads, Word(c.head).Text(false))
		for j, row := range g.rows {
			s.rows[j] = append(s.rows[j], row[i].Text(color))
		}
	}
	return s
}

func (s *sheet) fit(columns int) []string {
	if n := len(s.columns); n > 0 && s.columns[n-1].rest {
		return s.cut(columns)
	}
	whole := s.lines()
	if columns == 0 || widest(whole) <= columns {
		return whole
	}
	if i := slices.IndexFunc(s.columns, func(c column) bool { return c.spare }); i >= 0 {
		s = s.without(i)
		if short := s.lines(); widest(short) <= columns {
			return short
		}
	}
	below := s.below()
	isName := func(line string) bool {
		return slices.ContainsFunc(s.rows, func(row []string) bool { return row[0] == line })
	}
	// A name stays whole, however long it is.
	if widest(slices.DeleteFunc(slices.Clone(below), isName)) <= columns {
		return below
	}
	return s.list()
}

// all returns the header and the rows.
func (s *sheet) all() [][]string { return append([][]string{s.heads}, s.rows...) }

// widths returns the widths of the columns.
func (s *sheet) widths() []int {
	widths := make([]int, len(s.columns))
	for _, row := range s.all() {
		for i, cell := range row {
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(cell))
		}
	}
	return widths
}

// lines returns the header and a line for each row.
func (s *sheet) lines() []string {
	widths := s.widths()
	var all []string
	for _, row := range s.all() {
		var b strings.Builder
		for i, cell := range row {
			blanks := strings.Repeat(" ", widths[i]-text.StringWidthWithoutEscSequences(cell))
			if s.columns[i].right {
				cell, blanks = blanks+cell, ""
			}
			b.WriteString(cell + blanks + "  ")
		}
		all = append(all, strings.TrimRight(b.String(), " "))
	}
	return all
}

// without returns the table without a column.
func (s *sheet) without(i int) *sheet {
	drop := func(row []string) []string { return slices.Delete(slices.Clone(row), i, i+1) }
	other := &sheet{columns: slices.Delete(slices.Clone(s.columns), i, i+1), heads: drop(s.heads)}
	for _, row := range s.rows {
		other.rows = append(other.rows, drop(row))
	}
	return other
}

// below returns the table with the figures below their names.
func (s *sheet) below() []string {
	lines := s.without(0).lines()
	all := []string{s.heads[0], "  " + lines[0]}
	for i, row := range s.rows {
		all = append(all, row[0], "  "+lines[i+1])
	}
	return all
}

// list returns each figure on a separate line, after its name.
func (s *sheet) list() []string {
	width := widest(s.heads[1:])
	var all []string
	for _, row := range s.rows {
		all = append(all, row[0])
		for i, cell := range row[1:] {
			all = append(all, "  "+text.Pad(s.heads[i+1], width, ' ')+"  "+cell)
		}
	}
	return all
}

// cut returns the table with its last column cut to the remaining room. If that
// is too little to read, the text goes below its line, or in the place of the
// name if the row has none.
func (s *sheet) cut(columns int) []string {
	last := len(s.columns) - 1
	left := s.without(last)
	lines := left.lines()
	var rest []string
	for _, row := range s.rows {
		rest = append(rest, row[last])
	}
	longest := widest(rest)
	if longest == 0 {
		return lines
	}
	const least = 20
	if room := columns - widest(lines) - 2; columns <= 0 || room >= min(least, longest) {
		if columns > 0 {
			for _, row := range s.rows {
				row[last] = Snip(row[last], room)
			}
		}
		return s.lines()
	}
	at, names := 0, 0
	for i, width := range left.widths() {
		if names = i; !s.columns[i].right {
			break
		}
		at += width + 2
	}
	out := lines[:1:1]
	for i, row := range s.rows {
		line := lines[i+1]
		switch {
		case rest[i] == "":
			out = append(out, line)
		case row[names] == "" && columns-at >= least:
			out = append(out, text.Pad(line, at, ' ')+Snip(rest[i], columns-at))
		default:
			out = append(out, line, "    "+Snip(rest[i], max(columns-4, 1)))
		}
	}
	return out
}

// widest returns the width of the widest line.
func widest(lines []string) int {
	width := 0
	for _, line := range lines {
		width = max(width, text.StringWidthWithoutEscSequences(line))
	}
	return width
}
