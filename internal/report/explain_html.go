package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/unit"
)

//go:embed explain_page.html.tmpl
var explainPage string

var explainTemplate = template.Must(template.New("explain").Parse(explainPage))

// ExplainHTML writes an explanation as one page that needs nothing else: no script,
// no font, no network. Of each benchmark it has all lines, in the order of their
// files.
func ExplainHTML(w io.Writer, m *Explanation) error {
	if err := explainTemplate.Execute(w, newPage(m)); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// page is what the template shows. The template escapes texts; here they are made
// printable, so that none turns the direction of what is beside it.
type page struct {
	Title    string
	Head     []string
	Two, Asm bool
	Programs []pageProgram
	Missed   bool
	Hint     string
	AsmNote  string
	Tool     string
}

type pageProgram struct {
	ID, Name, Program, Total string
	Error                    string
	Warnings                 []string
	Two                      bool
	// Base, Head and Delta are the totals, Worse and Better say which way they
	// changed.
	Base, Head, Delta string
	Worse, Better     bool
	Dearest           []pageLine
	Functions         []pageFunction
	Several           bool
}

type pageFunction struct {
	Name                     string
	Insns, Base, Head, Delta string
	Share                    string
	Files                    []pageFile
}

type pageFile struct {
	Name  string
	Lines []pageLine
}

type pageLine struct {
	ID     string
	Place  string
	Number string
	// Insns is what the line's side executes, Base and Head what both do.
	Insns, Base, Head, Delta string
	Share, Width             string
	Heat                     int
	Worse, Better, Missed    bool
	Source                   string
	// Gap says that lines without code are before this one.
	Gap   bool
	Codes string
	Code  []pageCode
}

type pageCode struct{ Base, Head, Text string }

func newPage(m *Explanation) *page {
	plain := *m
	plain.Color, plain.Columns = false, 0
	m = &plain
	out := &page{Title: "BPF instructions, line by line", Head: explainedHead(m), Asm: m.Asm, Hint: unreachedHint, AsmNote: asmLegend}
	if len(m.Tables) > 0 {
		out.Tool = escape.Printable(m.Tables[0].Tool)
	}
	programs := m.programs()
	for i := range programs {
		p := newPageProgram(m, &programs[i], fmt.Sprintf("b%d", i+1))
		out.Two = out.Two || p.Two
		for _, f := range p.Functions {
			for _, file := range f.Files {
				out.Missed = out.Missed || slices.ContainsFunc(file.Lines, func(l pageLine) bool { return l.Missed })
			}
		}
		out.Programs = append(out.Programs, p)
	}
	if len(out.Programs) == 1 {
		out.Title = out.Programs[0].Name + " · " + out.Title
	}
	return out
}

func newPageProgram(m *Explanation, p *explained, id string) pageProgram {
	out := pageProgram{ID: id, Name: escape.Printable(p.Benchmark), Program: escape.Printable(explainedProgram(p)), Total: explainedTotal(p), Two: p.two()}
	if where := p.where(m); where != "" {
		out.Name += " on " + escape.Printable(where)
	}
	for _, w := range p.Warnings {
		out.Warnings = append(out.Warnings, escape.Printable(w))
	}
	if p.Error != "" || p.side() == nil {
		out.Error = escape.Printable(cmp.Or(p.Error, "nothing was counted"))
		return out
	}
	out.Base, out.Head, out.Delta = none, none, none
	if p.Base != nil {
		out.Base = insns(p.Base.PerRun)
	}
	if p.Head != nil {
		out.Head = insns(p.Head.PerRun)
	}
	if p.two() {
		d := p.Head.PerRun - p.Base.PerRun
		out.Delta, out.Worse, out.Better = explainedChange(p), unit.Tidy(d) > 0, unit.Tidy(d) < 0
	}
	names := newFileNames(p.Lines)
	ids := map[*bench.Line]string{}
	for i := range p.Lines {
		ids[&p.Lines[i]] = fmt.Sprintf("%s-%d", id, i+1)
	}
	heaviest := 0.0
	for i := range p.Lines {
		heaviest = max(heaviest, p.weight(&p.Lines[i]))
	}
	line := func(l *bench.Line) pageLine { return newPageLine(m, p, names, ids[l], l, heaviest) }
	top := *m
	top.All, top.ByFile = false, false
	const dearest = 5
	for _, l := range p.listing(&top).lines {
		if len(out.Dearest) == dearest {
			break
		}
		out.Dearest = append(out.Dearest, line(l))
	}
	functions := p.functions()
	out.Several = len(functions) > 1
	for i := range functions {
		f := &functions[i]
		fn := pageFunction{Name: escape.Printable(f.label(p)), Base: none, Head: none}
		if f.baseHas {
			fn.Base = insns(f.base)
		}
		if f.headHas {
			fn.Head = insns(f.head)
		}
		fn.Delta = moreInsns(f.head - f.base)
		of := f.head
		if p.Head == nil {
			of = f.base
		}
		fn.Insns, fn.Share = insns(of), unit.Percent(share(of, p.side().PerRun))
		fn.Files = pageFiles(f.lines, names, line)
		out.Functions = append(out.Functions, fn)
	}
	return out
}

// pageFiles are the lines of a function, by file: that which it begins in first,
// then those that it inlines from.
func pageFiles(lines []*bench.Line, names fileNames, line func(*bench.Line) pageLine) []pageFile {
	first := ""
	if len(lines) > 0 {
		first = lines[0].File
	}
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b *bench.Line) int {
		if (a.File == first) != (b.File == first) {
			return map[bool]int{true: -1, false: 1}[a.File == first]
		}
		return inFile(a, b)
	})
	var files []pageFile
	for i, l := range lines {
		if i == 0 || l.File != lines[i-1].File {
			name := "no source is known"
			if l.File != "" {
				name = names[l.File]
			}
			files = append(files, pageFile{Name: escape.Printable(name)})
		}
		f := &files[len(files)-1]
		next := line(l)
		next.Gap = len(f.Lines) > 0 && l.Number > lines[i-1].Number+1
		f.Lines = append(f.Lines, next)
	}
	return files
}

func newPageLine(m *Explanation, p *explained, names fileNames, id string, l *bench.Line, heaviest float64) pageLine {
	side := p.of(l)
	out := pageLine{
		ID: id, Place: escape.Printable(names.place(l)), Number: fmt.Sprint(l.Number),
		Insns: sideInsns(side), Base: sideInsns(l.Base), Head: sideInsns(l.Head), Delta: moreInsns(l.Delta()),
		Share: unit.Percent(p.share(l)), Source: pageSource(l.Text),
		Missed: side != nil && side.PerRun == 0,
	}
	if l.Source() == nil {
		out.Number = escape.Printable(offsetPlace(l))
	}
	if p.Head != nil && l.Head == nil {
		// The number is one of the base.
		out.Number = "−" + out.Number
	}
	weight := share(p.weight(l), heaviest)
	out.Width = fmt.Sprintf("%.1f%%", 100*weight)
	if weight > 0 {
		out.Heat = 1 + min(int(weight*5), 4)
	}
	if p.two() {
		d := unit.Tidy(l.Delta())
		out.Worse, out.Better = d > 0, d < 0
	}
	if m.Asm {
		for _, c := range codeRows(p, l) {
			out.Code = append(out.Code, pageCode{c.base, c.head, c.text})
		}
		out.Codes = plural(len(out.Code), "instruction")
	}
	return out
}

// pageSource is source with its indentation.
func pageSource(s string) string {
	var b strings.Builder
	column := 0
	for _, r := range strings.TrimRight(s, "\r\n\t ") {
		if r == '\t' {
			n := 4 - column%4
			b.WriteString(strings.Repeat(" ", n))
			column += n
			continue
		}
		b.WriteRune(r)
		column++
	}
	return escape.Printable(b.String())
}
