package explain

import (
	"fmt"
	"io"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Markdown writes an explanation for a comment on a pull request, in at most
// limit bytes, 0 for any number: a table of lines for each benchmark.
func Markdown(w io.Writer, m *Model, limit int) error {
	// Words for the terminal are colored there alone.
	plain := *m
	plain.Color, plain.Columns = false, 0
	m = &plain
	programs := m.programs()
	var sections []grid.Section
	for i := range programs {
		sections = append(sections, programSections(m, &programs[i])...)
	}
	for _, legend := range legends(m, programs, false) {
		sections = append(sections, grid.Section{Noun: "note", Rows: []string{"\n" + escape.MarkdownLine(legend) + "\n"}})
	}
	_, err := io.WriteString(w, grid.Fit(markdownHead(m), sections, limit))
	return err
}

func markdownHead(m *Model) string {
	var lines []string
	for _, line := range head(m) {
		lines = append(lines, escape.MarkdownLine(strings.Join(strings.Fields(line), " ")))
	}
	return "## BPF instructions, line by line\n\n" + strings.Join(lines, "<br>\n") + "\n"
}

// programSections are what there is of a benchmark: its title, which is a row of
// its own so that it stays where the lines do not fit, its lines, and its notes.
func programSections(m *Model, p *program) []grid.Section {
	title := "\n### " + escape.MarkdownCode(p.Benchmark)
	if where := p.where(m); where != "" {
		title += " on " + escape.Markdown(where)
	}
	title += "\n\n"
	if p.Error != "" {
		return []grid.Section{{Noun: "benchmark", Rows: []string{title + "❌ " + escape.Markdown(p.Error) + "\n"}}}
	}
	// It begins with what has no meaning to Markdown, whatever the names are.
	title += "Program " + escape.MarkdownCode(what(p)) + "<br>\n" + escape.MarkdownLine(totalLine(p)) + "\n"
	all := []grid.Section{{Noun: "benchmark", Rows: []string{title}}}
	names := newFileNames(p.Lines)
	list := p.listing(m)
	lines := grid.Section{Noun: "line", Open: markdownTable("insns", "share")}
	if p.two() {
		lines.Open = markdownTable("base", "head", "delta")
	}
	for _, l := range list.lines {
		lines.Rows = append(lines.Rows, markdownLineRow(p, names, l))
	}
	notes := grid.Section{Noun: "note"}
	e := textProgram{m: m, p: p, names: names}
	for note := range strings.SplitSeq(e.rest(), "\n") {
		if note != "" {
			notes.Rows = append(notes.Rows, "\n"+strings.ToUpper(note[:1])+note[1:]+".\n")
		}
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
	all = append(all, lines, notes)
	if m.Asm {
		if code := markdownCode(p, names, list.lines); code != "" {
			all = append(all, grid.Section{Noun: "listing", Rows: []string{code}})
		}
	}
	return all
}

// markdownTable is the head of a table of lines with so many figures.
func markdownTable(figures ...string) string {
	return "\n| " + strings.Join(figures, " | ") + " | line | source |\n|" + strings.Repeat(" --: |", len(figures)) + " --- | --- |\n"
}

func markdownLineRow(p *program, names fileNames, l *bench.Line) string {
	cells := []string{sideInsns(p.of(l)), unit.Percent(p.share(l))}
	if p.two() {
		cells = []string{sideInsns(l.Base), sideInsns(l.Head), lineDelta(l)}
	}
	place := escape.MarkdownCode(names.place(l)) + marks(p, l)
	if f := otherFunction(p, l); f != "" {
		place += " in " + escape.MarkdownCode(f)
	}
	source := ""
	if s := strings.TrimSpace(l.Text); s != "" {
		source = escape.MarkdownCode(s)
	}
	if s := strings.TrimSpace(l.BaseText); s != "" {
		source += ", was " + escape.MarkdownCode(s)
	}
	return fmt.Sprintf("| %s | %s | %s |\n", strings.Join(cells, " | "), place, source)
}

// markdownCode is the instructions of lines, behind a click.
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
	return "\n<details><summary>Instructions</summary>\n\n" + escape.MarkdownFence(b.String()) + "\n</details>\n"
}
