package grid

import (
	"strings"

	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// The marks of a heading.
const (
	Failed = "❌"
	Passed = "✅"
	Warned = "⚠️"
)

// Heading is a text after a mark, which may be empty.
type Heading struct{ Mark, Text string }

func (h Heading) String() string { return strings.TrimLeft(h.Mark+" "+h.Text, " ") }

// Document is a Markdown document.
type Document struct {
	Title Heading
	// Paragraphs follow the title.
	Paragraphs []string
	// Lines are sentences that follow, one per line.
	Lines    []string
	Sections []Section
}

// Section is a part of a Document that can be cut at its rows.
type Section struct {
	// Noun names one row.
	Noun string
	// Open and End surround the rows, if there are any.
	Open string
	Rows []string
	End  string
}

// Section returns the table as a section of a Document.
func (g *Grid) Section(noun string) Section {
	var heads, rule []string
	for _, c := range g.columns {
		if c.absent {
			continue
		}
		heads = append(heads, Word(c.head).Markdown())
		if c.right {
			rule = append(rule, "--:")
		} else {
			rule = append(rule, "---")
		}
	}
	line := func(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }
	s := Section{Noun: noun, Open: "\n" + line(heads) + line(rule)}
	for _, row := range g.rows {
		var cells []string
		for i, c := range row {
			if !g.columns[i].absent {
				cells = append(cells, c.Markdown())
			}
		}
		s.Rows = append(s.Rows, line(cells))
	}
	return s
}

// Behind returns the section behind a click on a title.
func (s Section) Behind(title string) Section {
	// The blank line makes GitHub read what follows as Markdown.
	if s.Open == "" {
		s.Open = "\n"
	}
	s.Open = "\n<details><summary>" + title + "</summary>\n" + s.Open
	s.End = "\n</details>\n"
	return s
}

// Markdown returns the document in at most limit bytes; 0 means any number. If
// not all rows fit, it ends after a whole row, and its last line says how many
// are missing. If not even the part above the sections fits, it returns only
// the title, or nothing.
func (d *Document) Markdown(limit int) string {
	title := "## " + d.Title.String() + "\n"
	head := title
	for _, p := range d.Paragraphs {
		head += "\n" + p + "\n"
	}
	var lines []string
	for _, line := range d.Lines {
		lines = append(lines, escape.MarkdownLine(strings.Join(strings.Fields(line), " ")))
	}
	if len(lines) > 0 {
		head += "\n" + strings.Join(lines, "<br>\n") + "\n"
	}
	var b strings.Builder
	b.WriteString(head)
	for i := range d.Sections {
		b.WriteString(d.Sections[i].with(len(d.Sections[i].Rows)))
	}
	if limit <= 0 || b.Len() <= limit {
		return b.String()
	}
	// No closing line is longer than the one that misses everything.
	taken := make([]int, len(d.Sections))
	room := limit - len(head) - len(d.missing(taken))
	if room < 0 {
		if len(title) <= limit {
			return title
		}
		return ""
	}
	b.Reset()
	b.WriteString(head)
	for i := range d.Sections {
		s := &d.Sections[i]
		taken[i] = s.fitting(room)
		text := s.with(taken[i])
		b.WriteString(text)
		room -= len(text)
		// Later rows matter less, so stop at the first one that does not fit.
		if taken[i] < len(s.Rows) {
			break
		}
	}
	b.WriteString(d.missing(taken))
	return b.String()
}

// with returns the section with the first n of its rows.
func (s *Section) with(n int) string {
	if n == 0 {
		return ""
	}
	return s.Open + strings.Join(s.Rows[:n], "") + s.End
}

// fitting returns how many of the rows fit into the room.
func (s *Section) fitting(room int) int {
	room -= len(s.Open) + len(s.End)
	for i, row := range s.Rows {
		if room -= len(row); room < 0 {
			return i
		}
	}
	return len(s.Rows)
}

// missing returns the line that says what was left out.
func (d *Document) missing(taken []int) string {
	var parts []string
	for i, s := range d.Sections {
		if n := len(s.Rows) - taken[i]; n > 0 {
			parts = append(parts, unit.Plural(n, s.Noun))
		}
	}
	return "\nToo long for a comment, so left out: " + strings.Join(parts, ", ") + ".\n"
}
