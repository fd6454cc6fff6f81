package escape

import "strings"

// LogText returns text as lines of a log, each escaped by Printable.
func LogText(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\r' })
	lines = strings.Split(strings.Join(lines, ""), "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}
