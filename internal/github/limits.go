package github

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// The limits of GitHub, in bytes. GitHub counts some of them in characters, which are
// never more than the bytes.
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

// Cut shortens Markdown to at most limit bytes. If it does not fit, it ends after a whole
// line, code blocks and collapsed sections are closed, no table keeps only its head and no
// code block is empty, and the last line is more, which says where the whole text is.
func Cut(markdown string, limit int, more string) string {
	markdown = strings.ToValidUTF8(markdown, string(utf8.RuneError))
	if len(markdown) <= limit {
		return markdown
	}
	more = "\n" + strings.TrimSpace(more) + "\n"
	var (
		s    scanner
		end  int    // end of the part that fits, in bytes
		tail string // closes what that part leaves open
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

// scanner tracks what the lines so far leave open.
type scanner struct {
	fence   string // what ends the code block, or empty
	fenced  int    // lines in the code block so far
	details int
	table   int // lines in the table so far
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

// tags counts open collapsed sections. Their lines begin with a tag, which no line with a
// stranger's text does.
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

// whole reports whether a text can end here: not in an empty code block, and not in a
// table without a row.
func (s *scanner) whole() bool {
	return (s.fence == "" || s.fenced > 0) && s.table != 1 && s.table != 2
}

// closing returns the text that closes everything open.
func (s *scanner) closing() string {
	text := strings.Repeat("\n</details>\n", s.details)
	if s.fence != "" {
		return s.fence + "\n" + text
	}
	return text
}

// cutText returns the beginning of a text, in at most limit bytes of whole characters.
func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
