package grid

import (
	"strings"

	"github.com/org/ebpf-bench-action/internal/unit"
)

// Section is a part of a Markdown document that can be cut at its rows.
type Section struct {
	// Noun names one row.
	Noun string
	// Open and End stand around the rows, where there is at least one.
	Open string
	Rows []string
	End  string
}

// Fit joins the sections to a document of at most limit bytes, 0 for any
// number. Where not all rows fit, it ends at a whole row, and its last line
// says how many are missing. Where not even the head fits, its first line is
// all, or nothing.
func Fit(head string, sections []Section, limit int) string {
	var all strings.Builder
	all.WriteString(head)
	for _, s := range sections {
		all.WriteString(s.with(len(s.Rows)))
	}
	if limit <= 0 || all.Len() <= limit {
		return all.String()
	}
	// No closing line is longer than the one that misses everything.
	room := limit - len(head) - len(missing(sections, make([]int, len(sections))))
	if room < 0 {
		if title, _, _ := strings.Cut(head, "\n"); len(title) < limit {
			return title + "\n"
		}
		return ""
	}
	var b strings.Builder
	b.WriteString(head)
	taken := make([]int, len(sections))
	for i := range sections {
		s := &sections[i]
		taken[i] = s.fitting(room)
		text := s.with(taken[i])
		b.WriteString(text)
		room -= len(text)
		// What comes later matters less, so nothing jumps the queue.
		if taken[i] < len(s.Rows) {
			break
		}
	}
	b.WriteString(missing(sections, taken))
	return b.String()
}

// with is the section with the first n of its rows.
func (s *Section) with(n int) string {
	if n == 0 {
		return ""
	}
	return s.Open + strings.Join(s.Rows[:n], "") + s.End
}

// fitting is how many of the rows Fit into the room.
func (s *Section) fitting(room int) int {
	room -= len(s.Open) + len(s.End)
	for i, row := range s.Rows {
		if room -= len(row); room < 0 {
			return i
		}
	}
	return len(s.Rows)
}

// missing is the line that says what was left out.
func missing(sections []Section, taken []int) string {
	var parts []string
	for i, s := range sections {
		if n := len(s.Rows) - taken[i]; n > 0 {
			parts = append(parts, unit.Plural(n, s.Noun))
		}
	}
	return "\nToo long for a comment, so left out: " + strings.Join(parts, ", ") + ".\n"
}

// SummaryLine opens a part behind a click. The blank line makes GitHub read
// what follows as Markdown.
func SummaryLine(title string) string {
	return "\n<details><summary>" + title + "</summary>\n\n"
}

// MarkdownHeader begins a table. All columns but the first few, and the last
// if it is that of the verdict, hold numbers.
func MarkdownHeader(names int, header ...string) string {
	rule := make([]string, len(header))
	for i, name := range header {
		rule[i] = "---"
		if i >= names && name != "verdict" {
			rule[i] = "--:"
		}
	}
	return MarkdownRow(header...) + MarkdownRow(rule...)
}

// MarkdownRow is a row of a table.
func MarkdownRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }
