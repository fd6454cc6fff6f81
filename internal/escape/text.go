package escape

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns text as one line for a terminal or the log of a job, wrapped at blanks
// or not: it moves no cursor, and the runner finds no command in it, neither ::x:: at the
// start of a line nor ##[x] anywhere.
func Printable(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
	if !strings.Contains(s, "::") && !strings.Contains(s, "##[") {
		return s
	}
	var b strings.Builder
	begins := true // a line could begin here
	for i, r := range s {
		b.WriteRune(r)
		if begins && strings.HasPrefix(s[i:], "::") || strings.HasPrefix(s[i:], "#[") && strings.HasSuffix(s[:i], "#") {
			b.WriteByte(' ')
		}
		begins = !visible(r) && (begins || unicode.IsSpace(r))
	}
	return b.String()
}

// Clip returns the beginning of a text, at most that many characters.
func Clip(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// visible reports whether a character leaves ink of its own.
func visible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.IsMark(r)
}
