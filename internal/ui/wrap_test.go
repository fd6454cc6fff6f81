package ui

import "testing"

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text            string
		columns, indent int
		want            string
	}{
		{"", 40, 0, ""},
		{"short enough", 40, 0, "short enough"},
		{"one line that is too long for its forty columns", 40, 0, "one line that is too long for its forty\ncolumns"},
		{"what stands behind something", 30, 10, "what stands behind\n          something"},
		{"a-word-that-is-longer-than-all-there-is and more", 30, 5, "a-word-that-is-longer-than-all-there-is\n     and more"},
		{"for no terminal at all, which has any width", 0, 10, "for no terminal at all, which has any width"},
		{"for one that is too narrow", 20, 10, "for one that is too narrow"},
	} {
		if got := Wrap(c.text, c.columns, c.indent); got != c.want {
			t.Errorf("in %d columns:\n%q, want\n%q", c.columns, got, c.want)
		}
	}
}
