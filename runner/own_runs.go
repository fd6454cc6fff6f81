package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

const (
	// ownSlices is how many slices with and without doings to compare. Those
	// with the fewest runs count, because others may call the hook meanwhile.
	ownSlices = 4
	// fewestRuns is the least share of doings that must call the hook.
	fewestRuns = 0.01
)

// refuseOwnRuns makes it an error if only the orders to the load call the
// program's hook, and not the load itself: their figure would look like one of
// the load. The latest slice must be one with the load.
func (d *driven) refuseOwnRuns(ctx context.Context) {
	if !d.live() || d.last.RunCnt == 0 {
		return
	}
	idler, ok := d.subject.Driver.(driver.Idler)
	if !ok {
		return
	}
	fewest, doings := d.last.RunCnt, 0
	var own []uint64
	for range ownSlices {
		before, err := driver.ReadCounters(d.subject.Program)
		if err == nil {
			doings, err = idler.Idle(ctx)
		}
		after, err2 := driver.ReadCounters(d.subject.Program)
		if err != nil || err2 != nil {
			return // the next slice fails, too, and says why
		}
		own = append(own, after.Since(before).RunCnt)
		if fewest >= uint64(doings) {
			continue // it is plain
		}
		if d.slice(ctx); d.err != nil || ctx.Err() != nil {
			return
		}
		fewest = min(fewest, d.last.RunCnt)
	}
	least, most := float64(slices.Min(own)), float64(slices.Max(own))
	// If others call the hook so often that the orders alone differ by about as
	// much as the load would add, there is no telling.
	hidden := most-least >= max(float64(doings)/2, 1)
	switch plain := float64(fewest)-least >= max(fewestRuns*float64(doings), 1); {
	case plain:
	case hidden:
		d.warn("the load may not call the hook at all: other processes call it too often to be sure; choose another with load, syscall or run")
	default:
		d.err = bench.WithHint(fmt.Errorf("program %s: not one run is the load's: what starts and ends it, or another process, calls the hook", d.job.Program), d.job.NeverRan())
	}
}
