package object

import (
	"slices"
	"testing"
)

// The same change of many things is one sentence; a change of one names just
// that.
func TestChangesAreFolded(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"a"}, "map a is new"},
		{[]string{"a", "a"}, "map a is new"},
		{[]string{"b", "a"}, "maps a and b are new"},
		{[]string{"c", "b", "a"}, "maps a, b and c are new"},
		{[]string{"e", "d", "c", "b", "a"}, "maps a, b, c and 2 more are new"},
	} {
		made := changes{kind: "map"}
		for _, name := range c.names {
			made.add(name, "is new", "are new")
		}
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		if got := made.sentences(); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", c.names, got, want)
		}
	}
	made := changes{kind: "map"}
	made.add("b", "is new", "are new")
	made.add("a", "is old", "are old")
	if got := made.sentences(); !slices.Equal(got, []string{"map a is old", "map b is new"}) {
		t.Errorf("%q", got)
	}
}
