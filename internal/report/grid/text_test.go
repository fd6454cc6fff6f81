package grid

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	long := strings.Repeat("words ", 40)
	for line := range strings.Lines(Wrap(long, TextWidth, 0, 2)) {
		if len(line) > TextWidth+1 {
			t.Errorf("%d columns", len(line))
		}
	}
	if got := Wrap("a b", TextWidth, 0, 2); got != "a b" {
		t.Errorf("%q", got)
	}
}
