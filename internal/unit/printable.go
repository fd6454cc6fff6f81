package unit

import (
	"strings"
	"unicode"
)

// Printable makes text from strangers' objects and files safe to print: it
// stays on one line and cannot move the cursor.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
