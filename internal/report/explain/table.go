package explain

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/org/ebpf-bench-action/internal/report/grid"
)

// lineTable is a table of lines of source: figures, places, and then the source
// itself, which gets the room that is left.
type lineTable struct {
	header []string
	// numbers is how many columns hold figures.
	numbers int
	rows    [][]string
	sources []string
}

func (t *lineTable) add(row []string, source string) {
	t.rows = append(t.rows, row)
	t.sources = append(t.sources, source)
}

// render is the table in so many columns, 0 for any number. Where there is no room for source that
// is worth reading, it stands below its line; that of a row without a place stands
// where the place would.
func (t *lineTable) render(columns int) string {
	left := t.lines(nil)
	width := grid.Width(left)
	source := 0
	for _, s := range t.sources {
		source = max(source, text.StringWidthWithoutEscSequences(s))
	}
	const least = 20
	switch room := columns - width - 2; {
	case source == 0:
		return left
	case columns <= 0:
		return t.lines(t.sources)
	case room >= min(least, source):
		sources := make([]string, len(t.sources))
		for i, s := range t.sources {
			sources[i] = grid.Snip(s, room)
		}
		return t.lines(sources)
	}
	lines := strings.Split(left, "\n")
	out := lines[:1:1]
	figures := text.StringWidthWithoutEscSequences(lines[0][:strings.LastIndex(lines[0], t.header[t.numbers])])
	for i, line := range lines[1:] {
		s := t.sources[i]
		switch {
		case s == "":
			out = append(out, line)
		case t.rows[i][t.numbers] == "" && columns-figures >= least:
			out = append(out, text.Pad(strings.TrimRight(line, " "), figures, ' ')+grid.Snip(s, columns-figures))
		default:
			out = append(out, line, "    "+grid.Snip(s, max(columns-4, 1)))
		}
	}
	return strings.Join(out, "\n")
}

// lines is the table, with the source if there is any.
func (t *lineTable) lines(sources []string) string {
	header := t.header
	if sources != nil {
		header = append(header[:len(header):len(header)], "source")
	}
	out := grid.New(len(header), header...)
	out.SetColumnConfigs(grid.RightAligned(0, t.numbers))
	for i, cells := range t.rows {
		var row table.Row
		for _, c := range cells {
			row = append(row, c)
		}
		if sources != nil {
			row = append(row, sources[i])
		}
		out.AppendRow(row)
	}
	return out.Render()
}
