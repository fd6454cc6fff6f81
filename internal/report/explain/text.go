package explain

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Text writes an explanation for a terminal: of each benchmark the lines
// that matter, its functions, and what its inputs do not reach.
func Text(w io.Writer, m *Model) error {
	var b strings.Builder
	for _, line := range head(m) {
		b.WriteString(grid.Wrap(line, m.columns(), 0, 2) + "\n")
	}
	programs := m.programs()
	hinted := map[string]bool{}
	for i := range programs {
		p := &programs[i]
		b.WriteString("\n" + title(m, p) + "\n")
		if p.Error != "" {
			if !m.Explained {
				b.WriteString(grid.Paint(m.Color, text.FgRed, "failed: ") + escape.Printable(p.Error) + "\n")
			}
			continue
		}
		e := textProgram{m: m, p: p, names: newFileNames(p.Lines)}
		for _, part := range []string{e.lineTable(), e.rest(), e.functionTable(), e.notes(), e.unreached(hinted), e.warnings()} {
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

// columns is how wide a line may be before it is broken: any width where it is not
// read in a terminal.
func (m *Model) columns() int { return cmp.Or(m.Columns, math.MaxInt32) }

// proseWidth is how wide running text is.
func (m *Model) proseWidth() int { return min(m.columns(), grid.TextWidth) }

// textProgram writes what is below a benchmark's title.
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
	t := lineTable{}
	t.header = []string{"insns", "share"}
	if e.p.two() {
		t.header = []string{"base", "head", "delta"}
	}
	if e.m.Asm {
		t.header = append(t.header, "≈")
	}
	t.numbers = len(t.header)
	t.header = append(t.header, "line")
	for _, l := range list.lines {
		figures := e.figures(l)
		if e.m.Asm {
			figures = append(figures, machineOf(e.p.of(l)))
		}
		t.add(append(figures, e.place(l)), e.source(l))
		if l.BaseText != "" && e.p.two() {
			row := make([]string, len(t.header))
			row[t.numbers] = "was " + escape.Printable(e.names.basePlace(l))
			t.add(row, lineText(l.BaseText, e.m.ByFile))
		}
		if e.m.Asm {
			e.code(&t, l)
		}
	}
	return t.render(e.m.Columns)
}

// place is where a line is, with its function if that is not the one that the
// program begins in.
func (e *textProgram) place(l *bench.Line) string {
	place := escape.Printable(e.names.place(l)) + marks(e.p, l)
	if f := otherFunction(e.p, l); f != "" {
		place += " in " + escape.Printable(escape.Clip(f, 40))
	}
	return place
}

// otherFunction is the function of a line with source, empty if the program begins
// in it.
func otherFunction(p *program, l *bench.Line) string {
	program, name := p.function(l)
	entered, first := p.function(&p.Lines[0])
	if l.Source() == nil || program == entered && name == first {
		return ""
	}
	return functionLabel(p, program, name)
}

func (e *textProgram) figures(l *bench.Line) []string {
	if e.p.two() {
		d := lineDelta(l)
		switch {
		case worse(l.Base, l.Head):
			d = grid.Paint(e.m.Color, text.FgRed, d)
		case better(l.Base, l.Head):
			d = grid.Paint(e.m.Color, text.FgGreen, d)
		}
		return []string{sideInsns(l.Base), sideInsns(l.Head), d}
	}
	s := e.p.share(l)
	n := sideInsns(e.p.of(l))
	switch {
	case s >= 0.25:
		n = grid.Paint(e.m.Color, text.FgRed, n)
	case s >= 0.1:
		n = grid.Paint(e.m.Color, text.FgYellow, n)
	}
	return []string{n, unit.Percent(s)}
}

// source is the text of a line: as it is indented where the lines around it are
// listed too.
func (e *textProgram) source(l *bench.Line) string { return lineText(l.Text, e.m.ByFile) }

func lineText(s string, indented bool) string {
	if !indented {
		return escape.Printable(strings.TrimSpace(s))
	}
	return escape.Printable(strings.TrimRight(strings.ReplaceAll(s, "\t", "  "), " \r\n"))
}

// rest says how much is not listed.
func (e *textProgram) rest() string {
	list := e.p.listing(e.m)
	var said []string
	if list.light > 0 {
		what := "more, with " + unit.Mean(list.lightWeight) + " instructions a run: list them by --all"
		if e.p.two() {
			what = "more changed a little, by " + unit.Mean(list.lightWeight) + " instructions a run: list them by --all"
		}
		said = append(said, unit.Plural(list.light, "line")+" "+what)
	}
	if e.p.two() && !e.m.All {
		switch {
		case len(list.lines) == 0 && list.same > 0:
			said = append(said, "no line changed")
		case list.same > 0:
			said = append(said, fmt.Sprintf("%s unchanged, with %s instructions a run", unit.Plural(list.same, "line"), unit.Mean(list.sameInsns)))
		}
	}
	return strings.Join(said, "\n")
}

// functionTable has what each function executes, where there are several.
func (e *textProgram) functionTable() string {
	functions := e.p.functions()
	if len(functions) < 2 {
		return ""
	}
	header := []string{"function", "insns", "share"}
	if e.p.two() {
		header = []string{"function", "base", "head", "delta"}
	}
	t := grid.New(1, header...)
	for i := range functions {
		f := &functions[i]
		name := escape.Printable(escape.Clip(f.label(e.p), 80))
		if !e.p.two() {
			n := f.head + f.base
			t.AppendRow(table.Row{name, unit.Mean(n), unit.Percent(share(n, e.p.side().PerRun))})
			continue
		}
		base, head := grid.None, grid.None
		if f.baseHas {
			base = unit.Mean(f.base)
		}
		if f.headHas {
			head = unit.Mean(f.head)
		}
		t.AppendRow(table.Row{name, base, head, report.MoreInsns(f.head - f.base)})
	}
	return t.Render()
}

func (e *textProgram) notes() string {
	all := e.p.notes(e.names)
	for i, note := range all {
		all[i] = grid.Wrap(note, e.m.columns(), 0, 2)
	}
	return strings.Join(all, "\n")
}

// unreached names the lines that runs do not reach. What to do about them is said
// once.
func (e *textProgram) unreached(hinted map[string]bool) string {
	var parts []string
	for _, u := range e.p.unreached(e.names, e.m.All) {
		said := u.what + ":"
		for _, place := range u.places {
			said += "\n  " + grid.Wrap(escape.Printable(place), e.m.columns()-2, 0, 4)
		}
		if !hinted[u.hint] {
			said += "\n" + grid.Wrap(u.hint, e.m.proseWidth(), 0, 0)
			hinted[u.hint] = true
		}
		parts = append(parts, said)
	}
	return strings.Join(parts, "\n\n")
}

func (e *textProgram) warnings() string {
	var all []string
	for _, w := range e.p.Warnings {
		all = append(all, grid.Paint(e.m.Color, text.FgYellow, "warning: ")+escape.Printable(w))
	}
	return strings.Join(all, "\n")
}
