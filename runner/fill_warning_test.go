package runner

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestOtherFill(t *testing.T) {
	fills := func(entries, after uint32) []bench.MapFill {
		return []bench.MapFill{{Name: "flows", Entries: entries, After: after}}
	}
	for _, c := range []struct {
		counted, measured uint32
		told              bool
	}{{0, 0, false}, {8, 8, false}, {95, 100, false}, {100, 95, false}, {0, 1, true}, {1, 0, true}, {80, 100, true}} {
		got := otherFill(fills(c.counted, 0), fills(0, c.measured), false)
		if (got != "") != c.told || c.told && !strings.HasPrefix(got, "map flows held ") {
			t.Errorf("%d counted, %d measured: %q", c.counted, c.measured, got)
		}
	}
	if otherFill(nil, fills(0, 9), true) != "" {
		t.Error("what was not counted has a fill")
	}
}
