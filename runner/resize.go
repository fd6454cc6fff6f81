package runner

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

func (d *driven) resizable() (driver.Resizer, bool) {
	if !d.live() {
		return nil, false
	}
	r, ok := d.subject.Driver.(driver.Resizer)
	return r, ok
}

// sliceTime is how long a slice takes where the suite leaves the number of its runs
// open: what it costs besides them, some 25 µs, is then 5%.
const sliceTime = 500 * time.Microsecond

// longSlice is the most that a slice takes where the suite leaves the number of its runs
// open, unless one run of each input takes longer.
const longSlice = 10 * time.Millisecond

// anyRuns returns what sets the number of runs of a slice if nothing else does: neither
// the suite nor maps that are emptied between slices.
func (d *driven) anyRuns() (driver.Resizer, bool) {
	r, ok := d.resizable()
	return r, ok && d.job.AnyRuns && !d.job.Parallel && !bpfmap.StartOver(d.subject.Emptiers)
}

// shortenSlow leaves the slices of a slow program no more runs than take about longSlice, in
// each load as many as in the first.
func (d *driven) shortenSlow(ctx context.Context) {
	r, ok := d.anyRuns()
	if !ok {
		return
	}
	all := 0
	r.Resize(func(now int) int {
		all = now
		return cmp.Or(d.runs, min(now, fewRuns))
	})
	if d.runs > 0 {
		return
	}
	// The first runs after a load are slow, and any may be interrupted.
	least := math.Inf(1)
	for range 3 {
		d.slice(ctx)
		if d.last.RunCnt > 0 {
			least = min(least, d.last.PerRun())
		}
		if d.slow = least*float64(all) > float64(longSlice); !d.slow {
			break
		}
	}
	r.Resize(func(int) int {
		if d.slow {
			return int(float64(longSlice) / least)
		}
		return all
	})
}

// fewRuns is how many runs tell a slow program from a fast one.
const fewRuns = 16

// lengthen gives the slices as many times their runs as take about this long, in each
// load as many as in the first.
func (d *driven) lengthen(ctx context.Context, to time.Duration) {
	r, ok := d.anyRuns()
	if !ok {
		return
	}
	if d.runs == 0 {
		least := d.leastWall(ctx)
		r.Resize(func(now int) int {
			d.runs = now * max(int((to+least/2)/max(least, 1)), 1)
			return d.runs
		})
	}
	d.slice(ctx)
}

// leastWall returns the time of the quickest of the latest slice and two more.
func (d *driven) leastWall(ctx context.Context) time.Duration {
	least := d.last.Wall
	for range 2 {
		d.slice(ctx)
		least = min(least, d.last.Wall)
	}
	return least
}

// makeRoom shortens the slices so that they fill no map that is emptied
// between them.
func (d *driven) makeRoom(ctx context.Context) {
	if !d.live() {
		return
	}
	made, err := d.subject.MakeRoom(func() error {
		d.slice(ctx)
		return errors.Join(d.err, ctx.Err())
	})
	switch {
	case ctx.Err() != nil, d.err != nil:
	case err != nil:
		d.err = err
	case !made:
		d.warn("a map that is emptied between slices fills up within one: the figures include the cost of a full one")
	}
}

// matchFloor makes the slices of the track's floor as short as the track's own, unless these
// are short because it is slow: to the few runs of such slices the floor is nothing, while
// what a short slice adds to each of its runs would fall to other tracks with this floor.
func (t *track) matchFloor(ctx context.Context) {
	if !t.live() || t.slow || t.floor == nil || t.last.RunCnt == 0 || t.last.RunCnt >= t.floor.last.RunCnt {
		return
	}
	if r, ok := t.floor.resizable(); ok {
		r.Resize(func(now int) int { return int(uint64(now) * t.last.RunCnt / t.floor.last.RunCnt) })
		t.floor.attached(ctx, func() { t.floor.slice(ctx) })
	}
}
