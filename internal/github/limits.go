package github

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// What GitHub takes, in bytes. Some of these it counts in characters, of
// which there are never more.
const (
	MaxComment      = 65_536
	MaxCheckSummary = 65_535
	MaxStepSummary  = 1 << 20

	maxTitle        = 255
	maxStatus       = 140 // of a commit status, in characters
	maxAnnotation   = 64 << 10
	maxAnnotations  = 50 // of one request
	maxAllAnnotated = 1000
)

// Cut is Markdown in at most limit bytes. Where not all of it fits, it ends
// after a whole line, a block of code and what was behind a click are closed, no
// table is left with its head alone nor a block of code without a line, and the
// last line is more, which tells where all of it is.
func Cut(markdown string, limit int, more string) string {
	markdown = strings.ToValidUTF8(markdown, string(utf8.RuneError))
	if len(markdown) <= limit {
		return markdown
	}
	more = "\n" + strings.TrimSpace(more) + "\n"
	var (
		s    scanner
		end  int    // of what fits, in bytes
		tail string // what closes it
	)
	for at := 0; at < len(markdown); {
		line, _, _ := strings.Cut(markdown[at:], "\n")
		at = min(at+len(line)+1, len(markdown))
		s.line(line)
		if closing := s.closing(); s.whole() && at+len(closing)+len(more) <= limit {
			end, tail = at, closing
		}
		if at+len(more) > limit {
			break
		}
	}
	out := strings.TrimRight(markdown[:end], "\n")
	if out != "" {
		out += "\n"
	}
	if out += tail + more; len(out) > limit {
		return ""
	}
	return strings.TrimPrefix(out, "\n")
}

// scanner knows what the lines that it was told leave open.
type scanner struct {
	fence   string // what ends the block of code, or empty
	fenced  int    // lines of it so far
	details int
	table   int // lines of the table so far
}

var (
	fenceForm  = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})")
	detailForm = regexp.MustCompile(`(?i)</?details\b`)
)

func (s *scanner) line(line string) {
	fence := ""
	if m := fenceForm.FindStringSubmatch(line); m != nil {
		fence = m[1]
	}
	switch {
	case s.fence != "":
		if strings.HasPrefix(fence, s.fence) && strings.Trim(line, " \r`~") == "" {
			s.fence = ""
		}
		s.fenced++
		return
	case fence != "":
		s.fence, s.fenced = fence, 0
	}
	s.tags(line)
	if strings.HasPrefix(strings.TrimLeft(line, " "), "|") {
		s.table++
	} else {
		s.table = 0
	}
}

// tags counts what is behind a click. Such a line begins with a tag, which no
// line with a stranger's text does.
func (s *scanner) tags(line string) {
	if !strings.HasPrefix(line, "<") {
		return
	}
	for _, tag := range detailForm.FindAllString(line, -1) {
		if strings.HasPrefix(tag, "</") {
			s.details = max(s.details-1, 0)
		} else {
			s.details++
		}
	}
}

// whole reports whether a text can end here: in no block of code without a line,
// and in no table without a row.
func (s *scanner) whole() bool {
	return (s.fence == "" || s.fenced > 0) && s.table != 1 && s.table != 2
}

// closing is what closes all that is open.
func (s *scanner) closing() string {
	text := strings.Repeat("\n</details>\n", s.details)
	if s.fence != "" {
		return s.fence + "\n" + text
	}
	return text
}

// cutText is the beginning of a text, in at most limit bytes of whole
// characters.
func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
