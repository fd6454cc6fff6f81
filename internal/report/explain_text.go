package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// ExplainText writes an explanation for a terminal: of each benchmark the lines
// that matter, its functions, and what its inputs do not reach.
func ExplainText(w io.Writer, m *Explanation) error {
	var b strings.Builder
	for _, line := range explainedHead(m) {
		b.WriteString(wrap(line, "  ", cmp.Or(m.Columns, maxWidth)) + "\n")
	}
	programs := m.programs()
	hinted := false
	for i := range programs {
		p := &programs[i]
		b.WriteString("\n" + explainedTitle(m, p) + "\n")
		if p.Error != "" {
			if !m.Explained {
				b.WriteString(paint(m.Color, text.FgRed, "failed: ") + escape.Printable(p.Error) + "\n")
			}
			continue
		}
		e := textProgram{m: m, p: p, names: newFileNames(p.Lines)}
		for _, part := range []string{e.lineTable(), e.rest(), e.functionTable(), e.unreached(&hinted), e.warnings()} {
			if part != "" {
				b.WriteString("\n" + part + "\n")
			}
		}
	}
	if m.Asm {
		b.WriteString("\n" + wrap(asmLegend, "", textWidth) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const asmLegend = "≈ is an estimate of the machine instructions that the JIT made of an instruction; all else is counted."

func (m *Explanation) columns() int { return cmp.Or(m.Columns, textWidth) }

// explainedHead says what was counted, where and of which sides.
func explainedHead(m *Explanation) []string {
	var h heads
	kernels := m.kernels()
	for i, t := range m.Tables {
		var lines []string
		if t.Base != nil {
			lines = append(lines, "base "+sideName(t.Base)+" → head "+sideName(&t.Head))
		}
		what := plural(len(t.Programs), "benchmark") + " · BPF instructions counted, the mean of a run"
		n := 0
		for i := range t.Programs {
			if t.Programs[i].Error != "" {
				n++
			}
		}
		if n > 0 {
			what += " · " + paint(m.Color, text.FgRed, fmt.Sprintf("%d failed", n))
		}
		h.add(&t.Testbed, kernels[i], append(lines, what)...)
	}
	return h.lines(len(m.Tables))
}

// explainedTitle names a benchmark, its program and what a run of it executes.
func explainedTitle(m *Explanation, p *explained) string {
	name := escape.Printable(p.Benchmark)
	if where := p.where(m); where != "" {
		name += " on " + escape.Printable(where)
	}
	lines := []string{paint(m.Color, text.Bold, name)}
	if what := explainedProgram(p); what != "" {
		lines = append(lines, wrap(escape.Printable(what), "  ", m.columns()))
	}
	if total := explainedTotal(p); total != "" {
		lines = append(lines, wrap(total, "  ", m.columns()))
	}
	return strings.Join(lines, "\n")
}

// explainedProgram is what is explained: fun.o:prog, or that of both sides where
// they differ, and how it is driven.
func explainedProgram(p *explained) string {
	s := p.side()
	if s == nil {
		return ""
	}
	of := func(s *bench.ExplainedSide) string { return s.Object + ":" + s.Program }
	what := of(s)
	switch {
	case p.two() && p.Base.Object == s.Object && p.Base.Program != s.Program:
		what = of(p.Base) + " → " + s.Program
	case p.two() && of(p.Base) != what:
		what = of(p.Base) + " → " + what
	case p.Head == nil:
		what += ", which only the base has"
	}
	if p.Driver != "" {
		what += " · " + p.Driver
	}
	return what
}

// explainedTotal is what a run executes in all.
func explainedTotal(p *explained) string {
	s := p.side()
	if s == nil {
		return ""
	}
	counted := runs(s.Runs)
	if p.two() && p.Base.Runs != p.Head.Runs {
		counted = fmt.Sprintf("%d and %s", p.Base.Runs, counted)
	}
	what, change := insns(s.PerRun), ""
	switch {
	case !p.two():
	case unit.Tidy(p.Head.PerRun-p.Base.PerRun) == 0:
		change = ", unchanged"
	default:
		what, change = insns(p.Base.PerRun)+" → "+what, " ("+explainedChange(p)+")"
	}
	noun := " BPF instructions a run"
	if what == "1" {
		noun = " BPF instruction a run"
	}
	return what + noun + change + ", in " + counted
}

// explainedChange is the change of the total, with its percentage.
func explainedChange(p *explained) string {
	d := p.Head.PerRun - p.Base.PerRun
	switch {
	case unit.Tidy(d) == 0:
		return "="
	case p.Base.PerRun == 0:
		return moreInsns(d)
	}
	return moreInsns(d) + ", " + percent(d/p.Base.PerRun)
}

func runs(n uint64) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

// textProgram writes what is below a benchmark's title.
type textProgram struct {
	m     *Explanation
	p     *explained
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
	t.numbers = len(t.header)
	t.header = append(t.header, "line")
	for _, l := range list.lines {
		t.add(append(e.figures(l), e.place(l)), e.source(l))
		if e.m.Asm {
			e.code(&t, l)
		}
	}
	return t.render(e.m.columns())
}

// place is where a line is, with its function if that is not the one that the
// program begins in.
func (e *textProgram) place(l *bench.Line) string {
	place := escape.Printable(e.names.place(l))
	if f := otherFunction(e.p, l); f != "" {
		place += " in " + escape.Printable(escape.Clip(f, 40))
	}
	return place
}

// otherFunction is the function of a line with source, empty if the program begins
// in it.
func otherFunction(p *explained, l *bench.Line) string {
	program, name := p.function(l)
	entered, first := p.function(&p.Lines[0])
	if l.Source() == nil || program == entered && name == first {
		return ""
	}
	return functionLabel(p, program, name)
}

func (e *textProgram) figures(l *bench.Line) []string {
	if e.p.two() {
		d := moreInsns(l.Delta())
		switch {
		case strings.HasPrefix(d, "+"):
			d = paint(e.m.Color, text.FgRed, d)
		case d != "=":
			d = paint(e.m.Color, text.FgGreen, d)
		}
		return []string{e.insns(l.Base), e.insns(l.Head), d}
	}
	s := e.p.share(l)
	n := e.insns(e.p.of(l))
	switch {
	case s >= 0.25:
		n = paint(e.m.Color, text.FgRed, n)
	case s >= 0.1:
		n = paint(e.m.Color, text.FgYellow, n)
	}
	return []string{n, unit.Percent(s)}
}

func (e *textProgram) insns(x *bench.Executed) string {
	if x == nil {
		return none
	}
	return insns(x.PerRun)
}

// source is the text of a line: as it is indented where the lines around it are
// listed too.
func (e *textProgram) source(l *bench.Line) string {
	if !e.m.ByFile {
		return lineSource(l)
	}
	return escape.Printable(strings.TrimRight(strings.ReplaceAll(l.Text, "\t", "  "), " \r\n"))
}

// rest says how much is not listed.
func (e *textProgram) rest() string {
	list := e.p.listing(e.m)
	var said []string
	if list.light > 0 {
		what := "more, with " + insns(list.lightWeight) + " instructions a run: list them by --all"
		if e.p.two() {
			what = "more changed a little, by " + insns(list.lightWeight) + " instructions a run: list them by --all"
		}
		said = append(said, plural(list.light, "line")+" "+what)
	}
	if e.p.two() && !e.m.All {
		switch {
		case len(list.lines) == 0 && list.same > 0:
			said = append(said, "no line changed")
		case list.same > 0:
			said = append(said, fmt.Sprintf("%s unchanged, with %s instructions a run", plural(list.same, "line"), insns(list.sameInsns)))
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
	t := newTable(1, header...)
	for i := range functions {
		f := &functions[i]
		name := escape.Printable(escape.Clip(f.label(e.p), 40))
		if !e.p.two() {
			n := f.head + f.base
			t.AppendRow(table.Row{name, insns(n), unit.Percent(share(n, e.p.side().PerRun))})
			continue
		}
		base, head := none, none
		if f.baseHas {
			base = insns(f.base)
		}
		if f.headHas {
			head = insns(f.head)
		}
		t.AppendRow(table.Row{name, base, head, moreInsns(f.head - f.base)})
	}
	return t.Render()
}

// unreached names the lines that no run reaches. What to do about them is said
// once.
func (e *textProgram) unreached(hinted *bool) string {
	missed := e.p.unreached(e.names, e.m.All)
	if len(missed) == 0 {
		return ""
	}
	for i, s := range missed {
		missed[i] = "  " + wrap(escape.Printable(s), "    ", e.m.columns()-2)
	}
	said := "not reached:\n" + strings.Join(missed, "\n")
	if !*hinted {
		said += "\n" + wrap(unreachedHint, "", min(e.m.columns(), textWidth))
		*hinted = true
	}
	return said
}

func (e *textProgram) warnings() string {
	var all []string
	for _, w := range e.p.Warnings {
		all = append(all, paint(e.m.Color, text.FgYellow, "warning: ")+escape.Printable(w))
	}
	return strings.Join(all, "\n")
}
