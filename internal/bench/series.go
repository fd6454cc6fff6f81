package bench

import (
	"regexp"
	"strings"
)

// Series returns the series of a kernel's release: 6.12 for 6.12.107+deb13-amd64. Any
// other text is its own series.
func Series(release string) string {
	if m := seriesForm.FindString(release); m != "" && IsRelease(release, m) {
		return m
	}
	return release
}

var seriesForm = regexp.MustCompile(`^\d+\.\d+`)

// IsRelease reports whether a name is a whole beginning of a release: 6.1 is one of
// 6.1.0-50-cloud-amd64, but not of 6.12.107.
func IsRelease(release, name string) bool {
	rest, ok := strings.CutPrefix(release, name)
	return ok && name != "" && (rest == "" || !isAlnum(rest[0]))
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
