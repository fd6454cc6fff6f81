package explain

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Text writes an explanation for a terminal: for each benchmark the lines that
// matter, its functions, and what its inputs do not reach.
func Text(w io.Writer, m *Model) error {
	var b strings.Builder
	for _, line := range head(m).Lines(len(m.Tables)) {
		b.WriteString(grid.Wrap(line, m.columns(), 0, 2) + "\n")
	}
	programs := m.programs()
	hinted := map[string]bool{}
	for i := range programs {
		p := &programs[i]
		b.WriteString("\n" + title(m, p) + "\n")
		if p.Error != "" {
			if !m.Explained {
				b.WriteString(grid.Paint(m.Color, grid.Red, "failed: ") + escape.Printable(p.Error) + "\n")
			}
			continue
		}
		e := textProgram{m: m, p: p, names: newFileNames(p.Lines)}
		for _, part := range []string{e.lineTable(), strings.Join(e.rest(), "\n"), e.functionTable(), e.notes(), e.unreached(hinted), e.warnings()} {
			if part != "" {
				b.WriteString("\n" + part + "\n")
			}
		}
	}
	for i, legend := range legends(m, programs, false) {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(grid.Wrap(legend, m.proseWidth(), 0, 2) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// columns returns the width at which lines break: any width if the output is
// not for a terminal.
func (m *Model) columns() int { return cmp.Or(m.Columns, math.MaxInt32) }

// proseWidth returns the width of running text.
func (m *Model) proseWidth() int { return min(m.columns(), grid.TextWidth) }

// textProgram writes the part below a benchmark's title.
type textProgram struct {
	m     *Model
	p     *program
	names fileNames
}

// lineTable has the lines that matter.
func (e *textProgram) lineTable() string {
	list := e.p.listing(e.m)
	if len(list.lines) == 0 {
		return ""
	}
	t := e.lineGrid(e.m.Asm)
	figures := 2 // columns, besides the one of machine instructions
	if e.p.two() {
		figures = 3
	}
	for _, l := range list.lines {
		cells := append(e.figures(l), grid.Figure(machineOf(e.p.of(l))), e.place(l), grid.Figure(lineText(l.Text, e.m.ByFile)))
		t.Row(cells...)
		if l.BaseText != "" && e.p.two() {
			row := make([]grid.Cell, figures+1)
			t.Row(append(row, grid.Word("was "+e.names.basePlace(l)), grid.Figure(lineText(l.BaseText, e.m.ByFile)))...)
		}
		if e.m.Asm {
			for _, c := range codeRows(e.p, l) {
				row := []grid.Cell{grid.Figure(c.base), grid.Figure(c.head), nil, grid.Figure(c.machine), nil, grid.Figure("  " + c.text)}
				t.Row(row[3-figures:]...)
			}
		}
	}
	return t.Text(e.m.Columns, e.m.Color)
}

// lineGrid returns an empty table for lines, with machine instructions or not.
func (e *textProgram) lineGrid(machine bool) *grid.Grid {
	t := new(grid.Grid)
	if e.p.two() {
		t.Right("base", "head", "delta")
	} else {
		t.Right("insns", "share")
	}
	return t.Right("≈").If(machine).Left("line").Rest("source")
}

// place returns the place of a line, with its function if that is not the first
// one of the program.
func (e *textProgram) place(l *bench.Line) grid.Cell {
	place := grid.Name(e.names.place(l)).And(grid.Figure(marks(e.p, l)))
	if f := otherFunction(e.p, l); f != "" {
		place = place.And(grid.Figure(" in "), grid.ShortName(f, 40), grid.Figure(escape.Printable(calledBy(l.Later))))
	}
	return place
}

// otherFunction returns the function of a line with source, or "" if the
// program starts in it.
func otherFunction(p *program, l *bench.Line) string {
	program, name := p.function(l)
	entered, first := p.function(&p.Lines[0])
	if l.Source() == nil || program == entered && name == first {
		return ""
	}
	return functionLabel(p, program, name)
}

func (e *textProgram) figures(l *bench.Line) []grid.Cell {
	if e.p.two() {
		d := grid.Figure(lineDelta(l))
		switch {
		case worse(l.Base, l.Head):
			d = d.Paint(grid.Red)
		case better(l.Base, l.Head):
			d = d.Paint(grid.Green)
		}
		return []grid.Cell{grid.Figure(sideInsns(l.Base)), grid.Figure(sideInsns(l.Head)), d}
	}
	s := e.p.share(l)
	n := grid.Figure(sideInsns(e.p.of(l)))
	switch {
	case s >= 0.25:
		n = n.Paint(grid.Red)
	case s >= 0.1:
		n = n.Paint(grid.Yellow)
	}
	return []grid.Cell{n, grid.Figure(unit.Percent(s))}
}

// lineText returns the text of a line, indented if the lines around it are
// listed, too.
func lineText(s string, indented bool) string {
	if !indented {
		return escape.Printable(strings.TrimSpace(s))
	}
	return escape.Printable(strings.TrimRight(strings.ReplaceAll(s, "\t", "  "), " \r\n"))
}

// rest says how much is not listed.
func (e *textProgram) rest() (lines []string) {
	list := e.p.listing(e.m)
	if list.light > 0 {
		what := "more, with"
		if e.p.two() {
			what = "more changed a little, by"
		}
		lines = append(lines, unit.Plural(list.light, "line")+" "+what+" "+unit.Mean(list.lightWeight)+" instructions a run: list them by --all")
	}
	if e.p.two() && !e.m.All {
		switch {
		case len(list.lines) == 0 && list.same > 0:
			lines = append(lines, "no line changed")
		case list.same > 0:
			lines = append(lines, fmt.Sprintf("%s unchanged, with %s instructions a run", unit.Plural(list.same, "line"), unit.Mean(list.sameInsns)))
		}
	}
	return lines
}

// functionTable has what each function executes, if there are several.
func (e *textProgram) functionTable() string {
	functions := e.p.functions()
	if len(functions) < 2 {
		return ""
	}
	t := new(grid.Grid).Left("function")
	if e.p.two() {
		t.Right("base", "head", "delta")
	} else {
		t.Right("insns", "share")
	}
	for i := range functions {
		f := &functions[i]
		base, head, delta := f.figures()
		figures := []string{base, head, delta}
		if !e.p.two() {
			n := f.head + f.base
			figures = []string{unit.Mean(n), unit.Percent(e.p.shareOf(n, f.later))}
		}
		t.Row(append([]grid.Cell{grid.ShortName(f.label(e.p), 80)}, grid.Words(figures...)...)...)
	}
	return t.Text(0, false)
}

func (e *textProgram) notes() string {
	all := e.p.notes(e.names)
	for i, note := range all {
		all[i] = grid.Wrap(note, e.m.columns(), 0, 2)
	}
	return strings.Join(all, "\n")
}

// unreached names the lines that runs do not reach. It gives each hint only
// once.
func (e *textProgram) unreached(hinted map[string]bool) string {
	var parts []string
	for _, u := range e.p.unreached(e.names, e.m.All) {
		part := u.what + ":"
		for _, place := range u.places {
			part += "\n  " + grid.Wrap(escape.Printable(place), e.m.columns()-2, 0, 4)
		}
		if !hinted[u.hint] {
			part += "\n" + grid.Wrap(u.hint, e.m.proseWidth(), 0, 0)
			hinted[u.hint] = true
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "\n\n")
}

func (e *textProgram) warnings() string {
	var all []string
	for _, w := range e.p.Warnings {
		all = append(all, grid.Paint(e.m.Color, grid.Yellow, "warning: ")+escape.Printable(w))
	}
	return strings.Join(all, "\n")
}
