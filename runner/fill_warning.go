package runner

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// warnOfFill warns of a map whose fill level differed between the measured runs
// and the counted runs.
func (t *track) warnOfFill() {
	if t.executed == nil || !t.filled {
		return
	}
	if w := otherFill(t.executed.Fills, t.result.Maps, t.exact); w != "" {
		t.warn(w)
	}
}

// otherFill returns a warning about a map that was much fuller, or much less
// full, when runs were measured than when they were counted, or "" if there is
// none.
func otherFill(counted, measured []bench.MapFill, exact bool) string {
	for i := range min(len(counted), len(measured)) {
		c, m := counted[i].Entries, measured[i].After
		if less, more := min(c, m), max(c, m); uint64(more)*9 <= uint64(less)*10 {
			continue
		}
		how := "timed"
		if exact {
			how = "measured"
		}
		return fmt.Sprintf("map %s held %s entries when BPF instructions were counted and %s when runs were %s: they may be of different ways through the program",
			counted[i].Name, unit.Exact(float64(c)), unit.Exact(float64(m)), how)
	}
	return ""
}
