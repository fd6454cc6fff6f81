package report

import (
	"strings"

	"github.com/org/ebpf-bench-action/internal/unit"
)

// section is a part of a Markdown document that can be cut at its rows.
type section struct {
	// noun names one row.
	noun string
	// open and end stand around the rows, where there is at least one.
	open string
	rows []string
	end  string
}

// fit joins the sections to a document of at most limit bytes, 0 for any
// number. Where not all rows fit, it ends at a whole row, and its last line
// says how many are missing. Where not even the head fits, its first line is
// all, or nothing.
func fit(head string, sections []section, limit int) string {
	var all strings.Builder
	all.WriteString(head)
	for _, s := range sections {
		all.WriteString(s.with(len(s.rows)))
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
		if taken[i] < len(s.rows) {
			break
		}
	}
	b.WriteString(missing(sections, taken))
	return b.String()
}

// with is the section with the first n of its rows.
func (s *section) with(n int) string {
	if n == 0 {
		return ""
	}
	return s.open + strings.Join(s.rows[:n], "") + s.end
}

// fitting is how many of the rows fit into the room.
func (s *section) fitting(room int) int {
	room -= len(s.open) + len(s.end)
	for i, row := range s.rows {
		if room -= len(row); room < 0 {
			return i
		}
	}
	return len(s.rows)
}

// missing is the line that says what was left out.
func missing(sections []section, taken []int) string {
	var parts []string
	for i, s := range sections {
		if n := len(s.rows) - taken[i]; n > 0 {
			parts = append(parts, unit.Plural(n, s.noun))
		}
	}
	return "\nToo long for a comment, so left out: " + strings.Join(parts, ", ") + ".\n"
}
