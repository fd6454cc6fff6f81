// Package uname handles the releases of Linux that uname -r prints, such as
// 6.12.107+deb13-cloud-amd64: their form, their order, and the beginnings by which people
// name a kernel.
package uname

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var seriesForm = regexp.MustCompile(`^\d+\.\d+`)

var versionForm = regexp.MustCompile(`^\d+\.\d+[0-9A-Za-z.+_~-]*$`)

// IsVersion reports whether a name is a series such as 6.12, or a longer beginning of
// a release.
func IsVersion(name string) bool { return versionForm.MatchString(name) }

// releaseForm has the kernel's own limit on the length; a release names files here.
var releaseForm = regexp.MustCompile(`^\d+\.\d+[0-9A-Za-z.+_~-]{0,58}$`)

// Check returns the release, or an error if it does not have the form of one.
func Check(release string) (string, error) {
	if !releaseForm.MatchString(release) {
		return "", fmt.Errorf("kernel release reads %q", release)
	}
	return release, nil
}

// Series returns the first two numbers of a release.
func Series(release string) string { return seriesForm.FindString(release) }

// AllSeries returns the series of each release, without adjacent duplicates.
func AllSeries(releases []string) (all []string) {
	for _, release := range releases {
		all = append(all, Series(release))
	}
	return slices.Compact(all)
}

// Begins reports whether prefix is a whole beginning of a release: 6.1 is one of
// 6.1.0-50-cloud-amd64, but not of 6.12.107.
func Begins(release, prefix string) bool {
	rest, ok := strings.CutPrefix(release, prefix)
	return ok && (rest == "" || !isAlnum(rest[0]))
}

// Compare orders releases as Debian orders versions: numbers by their value, and ~ before
// everything, even the end, so that 7.2~rc4 comes before 7.2.
func Compare(a, b string) int {
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

// rank orders the character at i: ~, the end, letters, the rest.
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
