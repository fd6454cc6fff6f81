package plan

import (
	"fmt"
	"strings"
	"testing"
)

func TestValuesFor(t *testing.T) {
	for _, c := range []struct {
		what                string
		own, other          map[string]int
		otherHas, fits      string
		want, wantedWarning string
	}{
		{"the head's where it fits", map[string]int{"x": 1}, map[string]int{"x": 2}, "x", "x2", "map[x:2]", ""},
		{"its own of what was renamed", map[string]int{"old": 1}, map[string]int{"new": 2}, "new", "old1", "map[old:1]", "without a value for global new"},
		{"its own of what was widened", map[string]int{"x": 1}, map[string]int{"x": 2}, "x", "x1", "map[x:1]", "global x has the value of the base's suite"},
		{"none of what the head leaves alone", map[string]int{"x": 1}, nil, "x", "x1", "map[]", ""},
	} {
		var warnings []string
		got := valuesFor(c.own, c.other, "global", &warnings,
			func(name string) bool { return name == c.otherHas },
			func(name string, v int) bool { return fmt.Sprint(name, v) == c.fits })
		if text := strings.Join(warnings, " "); fmt.Sprint(got) != c.want || !strings.Contains(text, c.wantedWarning) || (text == "") != (c.wantedWarning == "") {
			t.Errorf("%s: %v, %q", c.what, got, text)
		}
	}
}
