package thresholds

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// belowFloor says which side costs less than an empty program by more than the floor's own
// noise, or returns an empty string. No program does, so the floor was not that of this
// program or something disturbed it, and no verdict can rest on it.
func belowFloor(t *test) string {
	for _, side := range []struct {
		name string
		net  float64
		r    *bench.Result
	}{{"base", t.change.Base, t.pair.Base}, {"head", t.change.Head, t.pair.Head}} {
		if side.net < 0 && -side.net > max(stat.MinNet, stat.FloorNoise(side.r)) {
			return fmt.Sprintf("below the floor: the %s costs %s less than an empty program", side.name, figure(-side.net, t.change.Measure))
		}
	}
	return ""
}
