package kernel

import (
	"cmp"
	"strings"
)

// hasPrefix says whether prefix is a whole beginning of a release: 6.1 is one
// of 6.1.0-50-cloud-amd64, but not of 6.12.107.
func hasPrefix(release, prefix string) bool {
	rest, ok := strings.CutPrefix(release, prefix)
	return ok && (rest == "" || !isAlnum(rest[0]))
}

// compareReleases sorts as Debian sorts versions: numbers by their value, and
// ~ before everything, even the end, so that 7.2~rc4 comes before 7.2.
func compareReleases(a, b string) int {
	for a != "" || b != "" {
		var x, y string
		x, a = cutWhile(a, isNotDigit)
		y, b = cutWhile(b, isNotDigit)
		if c := compareText(x, y); c != 0 {
			return c
		}
		x, a = cutWhile(a, isDigit)
		y, b = cutWhile(b, isDigit)
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
	}
	return 0
}

func compareText(x, y string) int {
	for i := range max(len(x), len(y)) {
		if c := cmp.Compare(rank(x, i), rank(y, i)); c != 0 {
			return c
		}
	}
	return 0
}

// rank is where the character at i sorts: ~, the end, letters, the rest.
func rank(s string, i int) int {
	switch {
	case i >= len(s):
		return 0
	case s[i] == '~':
		return -1
	case isAlnum(s[i]):
		return int(s[i])
	default:
		return int(s[i]) + 256
	}
}

func cutWhile(s string, is func(byte) bool) (before, after string) {
	n := 0
	for n < len(s) && is(s[n]) {
		n++
	}
	return s[:n], s[n:]
}

func isDigit(c byte) bool    { return '0' <= c && c <= '9' }
func isNotDigit(c byte) bool { return !isDigit(c) }
func isAlnum(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
