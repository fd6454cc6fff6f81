package explain

import (
	"fmt"
	"io"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
)

// Markdown writes an explanation for a comment on a pull request, in at most
// limit bytes (0 means any number): a table of lines for each benchmark.
func Markdown(w io.Writer, m *Model, limit int) error {
	// Only terminals color words.
	plain := *m
	plain.Color, plain.Columns = false, 0
	m = &plain
	d := grid.Document{Title: grid.Heading{Text: "BPF instructions, line by line"}, Lines: head(m).Lines(len(m.Tables))}
	programs := m.programs()
	for i := range programs {
		d.Sections = append(d.Sections, programSections(m, &programs[i])...)
	}
	for _, legend := range legends(m, programs, false) {
		d.Sections = append(d.Sections, grid.Section{Noun: "note", Rows: []string{"\n" + escape.MarkdownLine(legend) + "\n"}})
	}
	_, err := io.WriteString(w, d.Markdown(limit))
	return err
}

// programSections returns the parts of a benchmark: its title, which is a
// separate row so that it stays if the lines do not fit, its lines, and its
// notes.
func programSections(m *Model, p *program) []grid.Section {
	title := "\n### " + escape.MarkdownCode(p.Benchmark)
	if where := p.where(m); where != "" {
		title += " on " + escape.Markdown(where)
	}
	title += "\n\n"
	if p.Error != "" {
		return []grid.Section{{Noun: "benchmark", Rows: []string{title + "❌ " + escape.Markdown(p.Error) + "\n"}}}
	}
	// It starts with text that has no meaning in Markdown, whatever the names
	// are.
	title += "Program " + escape.MarkdownCode(what(p)) + "<br>\n" + escape.MarkdownLine(totalLine(p)) + "\n"
	all := []grid.Section{{Noun: "benchmark", Rows: []string{title}}}
	names := newFileNames(p.Lines)
	list := p.listing(m)
	e := textProgram{m: m, p: p, names: names}
	t := e.lineGrid(false)
	for _, l := range list.lines {
		t.Row(append(e.figures(l), nil, e.place(l), sourceCell(l))...)
	}
	notes := grid.Section{Noun: "note"}
	for _, note := range e.rest() {
		notes.Rows = append(notes.Rows, "\n"+strings.ToUpper(note[:1])+note[1:]+".\n")
	}
	for _, note := range p.notes(names) {
		notes.Rows = append(notes.Rows, "\n"+escape.MarkdownLine(note)+".\n")
	}
	for _, u := range p.unreached(names, m.All) {
		for i, s := range u.places {
			u.places[i] = escape.MarkdownCode(s)
		}
		notes.Rows = append(notes.Rows, "\n"+strings.ToUpper(u.what[:1])+u.what[1:]+": "+strings.Join(u.places, "; ")+". "+u.hint+"\n")
	}
	for _, w := range p.Warnings {
		notes.Rows = append(notes.Rows, "\n⚠️ "+escape.Markdown(w)+"\n")
	}
	all = append(all, t.Section("line"), notes)
	if m.Asm {
		if code := markdownCode(p, names, list.lines); code != "" {
			all = append(all, grid.Section{Noun: "listing", Rows: []string{code}}.Behind("Instructions"))
		}
	}
	return all
}

// sourceCell returns the source of a line, and its source in the base.
func sourceCell(l *bench.Line) grid.Cell {
	c := grid.Name(strings.TrimSpace(l.Text))
	if s := strings.TrimSpace(l.BaseText); s != "" {
		c = c.And(grid.Figure(", was "), grid.Name(s))
	}
	return c
}

// markdownCode returns the instructions of lines.
func markdownCode(p *program, names fileNames, lines []*bench.Line) string {
	var b strings.Builder
	for _, l := range lines {
		rows := codeRows(p, l)
		if len(rows) == 0 {
			continue
		}
		b.WriteString(names.place(l) + "  " + report.LineSource(l) + "\n")
		for _, c := range rows {
			if p.two() {
				fmt.Fprintf(&b, "%10s %10s %5s  %s\n", c.base, c.head, c.machine, c.text)
			} else {
				fmt.Fprintf(&b, "%10s %5s  %s\n", c.head, c.machine, c.text)
			}
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return escape.MarkdownFence(b.String())
}
