package escape

import "strings"

// Shell returns a word for a POSIX shell, quoted if it must be.
func Shell(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/,+=:@", r)
	}
	if s != "" && strings.TrimLeftFunc(s, plain) == "" && s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
