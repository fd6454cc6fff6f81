package escape

import "strings"

// LogLine returns text as one line of a log: it moves no cursor, and the runner finds no
// command in it, neither ::x:: at its start nor ##[x] anywhere.
func LogLine(s string) string {
	s = strings.ReplaceAll(Printable(s), "##[", "## [")
	// The runner ignores blanks before a command.
	blank := len(s) - len(strings.TrimLeftFunc(s, func(r rune) bool { return !visible(r) }))
	if strings.HasPrefix(s[blank:], "::") {
		s = s[:blank] + ": :" + s[blank+len("::"):]
	}
	return s
}

// LogText returns text as lines of a log, each escaped by LogLine.
func LogText(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\r' })
	lines = strings.Split(strings.Join(lines, ""), "\n")
	for i, line := range lines {
		lines[i] = LogLine(line)
	}
	return strings.Join(lines, "\n")
}
