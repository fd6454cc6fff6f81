package bench

import "strings"

// Slug is a name as Bencher keys it: lower case, and every character that is
// no letter or digit a dash. Names with the same slug cannot be told apart.
func Slug(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + ('a' - 'A')
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, name)
}
