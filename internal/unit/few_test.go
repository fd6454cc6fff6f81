package unit

import (
	"strings"
	"testing"
)

func TestFew(t *testing.T) {
	for names, want := range map[string]string{
		"":          "",
		"a":         "a",
		"a b c":     "a, b, c",
		"a b c d":   "a, b, c, d",
		"a b c d e": "a, b, c and 2 more",
	} {
		if got := Few(strings.Fields(names)); got != want {
			t.Errorf("%q: %q, want %q", names, got, want)
		}
	}
}
