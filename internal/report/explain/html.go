package explain

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
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

//go:embed page.html.tmpl
var pageTemplate string

var pageOf = template.Must(template.New("explain").Parse(pageTemplate))

// HTML writes an explanation as one self-contained page: no script, no font, no
// network. It has all lines of each benchmark, in the order of their files.
func HTML(w io.Writer, m *Model) error {
	if err := pageOf.Execute(w, newPage(m)); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// page is the data for the template. The template escapes texts; here they are
// made printable, so that none reverses the direction of adjacent text.
type page struct {
	Title    string
	Head     []string
	Two, Asm bool
	Programs []pageProgram
	Missed   bool
	Hint     string
	// First says that some lines are reached only in the first runs.
	First     bool
	FirstHint string
	Legends   []string
	Tool      string
}

type pageProgram struct {
	ID, Name, Program, Total string
	Error                    string
	Warnings                 []string
	Two                      bool
	// Base, Head and Delta are the totals; Worse and Better give the direction
	// of the change.
	Base, Head, Delta string
	Worse, Better     bool
	Dearest           []pageLine
	Functions         []pageFunction
	Several           bool
	Notes             []string
}

type pageFunction struct {
	Name                     string
	Insns, Base, Head, Delta string
	Share                    string
	Files                    []pageFile
	// Same is where the same table already is, SameIn its benchmark.
	Same, SameIn string
}

type pageFile struct {
	Name  string
	Lines []pageLine
	last  int // number of the last line that the head has
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
	// Badge says how a line is not reached, Was what it was in the base, Calls
	// which helpers it calls.
	Badge, Was, Calls string
	Source            string
	// Around says that this line without code surrounds lines with code.
	Around bool
	// Gap says that lines without code precede this one.
	Gap   bool
	Codes string
	Code  []pageCode
}

type pageCode struct{ Base, Head, Machine, Text string }

func newPage(m *Model) *page {
	plain := *m
	plain.Color, plain.Columns = false, 0
	m = &plain
	out := &page{Title: "BPF instructions, line by line", Head: head(m).Lines(len(m.Tables)), Asm: m.Asm, Hint: unreachedHint, FirstHint: firstHint}
	if len(m.Tables) > 0 {
		out.Tool = escape.Printable(m.Tables[0].Tool)
	}
	programs := m.programs()
	out.Legends = legends(m, programs, true)
	for i := range programs {
		p := newPageProgram(m, &programs[i], fmt.Sprintf("b%d", i+1))
		out.Two = out.Two || p.Two
		for _, f := range p.Functions {
			for _, file := range f.Files {
				out.Missed = out.Missed || slices.ContainsFunc(file.Lines, func(l pageLine) bool { return l.Missed && l.Badge != firstBadge })
				out.First = out.First || slices.ContainsFunc(file.Lines, func(l pageLine) bool { return l.Badge == firstBadge })
			}
		}
		out.Programs = append(out.Programs, p)
	}
	once(out.Programs)
	if len(out.Programs) == 1 {
		out.Title = out.Programs[0].Name + " · " + out.Title
	}
	return out
}

func newPageProgram(m *Model, p *program, id string) pageProgram {
	out := pageProgram{ID: id, Name: sideSign(m, p) + escape.Printable(p.Benchmark), Program: escape.Printable(what(p)), Total: totalLine(p), Two: p.two()}
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
	out.Base, out.Head, out.Delta = grid.None, grid.None, grid.None
	if p.Base != nil {
		out.Base = sideInsns(&p.Base.Executed)
	}
	if p.Head != nil {
		out.Head = sideInsns(&p.Head.Executed)
	}
	if p.two() {
		out.Delta = change(p)
		out.Worse, out.Better = worse(&p.Base.Executed, &p.Head.Executed), better(&p.Base.Executed, &p.Head.Executed)
	}
	names := newFileNames(p.Lines)
	out.Notes = p.notes(names)
	ids, heaviest := map[*bench.Line]string{}, 0.0
	for i := range p.Lines {
		ids[&p.Lines[i]] = fmt.Sprintf("%s-%d", id, i+1)
		heaviest = max(heaviest, p.weight(&p.Lines[i]))
	}
	line := func(l *bench.Line) pageLine { return newPageLine(m, p, names, ids[l], l, heaviest) }
	top := *m
	top.All, top.ByFile = false, false
	const dearest = 5
	lines := p.listing(&top).lines
	for _, l := range lines[:min(len(lines), dearest)] {
		out.Dearest = append(out.Dearest, line(l))
	}
	functions := p.functions()
	out.Several = len(functions) > 1
	for i := range functions {
		f := &functions[i]
		fn := pageFunction{Name: escape.Printable(f.label(p))}
		fn.Base, fn.Head, fn.Delta = f.figures()
		of := f.head
		if p.Head == nil {
			of = f.base
		}
		fn.Insns, fn.Share = unit.Mean(of), unit.Percent(p.shareOf(of, f.later))
		fn.Files = pageFiles(f.lines, names, line, m.around(p))
		out.Functions = append(out.Functions, fn)
	}
	return out
}

// pageFiles returns the lines of a function, by file: first the file in which
// it starts, then those from which it inlines.
func pageFiles(lines []*bench.Line, names fileNames, line func(*bench.Line) pageLine, around func(file string) []string) []pageFile {
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
		f.add(l, line(l), around(l.File))
		if i == len(lines)-1 || lines[i+1].File != l.File {
			f.finish(around(l.File))
		}
	}
	return files
}

func newPageLine(m *Model, p *program, names fileNames, id string, l *bench.Line, heaviest float64) pageLine {
	side := p.of(l)
	out := pageLine{
		ID: id, Place: escape.Printable(names.place(l)), Number: fmt.Sprint(l.Number),
		Insns: sideInsns(side), Base: sideInsns(l.Base), Head: sideInsns(l.Head), Delta: lineDelta(l),
		Share: unit.Percent(p.share(l)), Source: pageSource(l.Text),
	}
	if side != nil && side.Times == 0 {
		out.Missed, out.Badge = true, badge(side)
	}
	if calls(l) {
		out.Calls = callMark
	}
	if l.BaseText != "" && p.two() {
		out.Was = escape.Printable(strings.TrimSpace(l.BaseText))
	}
	if l.Source() == nil {
		out.Number = escape.Printable(report.OffsetPlace(l))
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
		out.Worse, out.Better = worse(l.Base, l.Head), better(l.Base, l.Head)
	}
	if m.Asm {
		for _, c := range codeRows(p, l) {
			out.Code = append(out.Code, pageCode{c.base, c.head, c.machine, c.text})
		}
		out.Codes = unit.Plural(len(out.Code), "instruction")
	}
	return out
}

const firstBadge = "only in the first runs"

// badge says how a line is not reached.
func badge(e *bench.Executed) string {
	switch {
	case e.FirstOnly:
		return firstBadge
	case e.Partly():
		return partlyMark
	}
	return "not reached"
}

// pageSource returns source with its indentation.
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
