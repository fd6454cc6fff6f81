package runner

import (
	"context"
	"errors"
	"time"

	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/drive"
)

func (d *driven) resizable() (drive.Resizer, bool) {
	if !d.live() {
		return nil, false
	}
	r, ok := d.subject.Driver.(drive.Resizer)
	return r, ok
}

// sliceTime is how long a slice takes where the suite leaves the number of its runs
// open: what it costs besides them, some 25 µs, is then 5%.
const sliceTime = 500 * time.Microsecond

// lengthen gives the slices as many times their runs as take about this long, the
// same number in each load, unless the suite sets it or maps are emptied between slices.
func (d *driven) lengthen(ctx context.Context, to time.Duration) {
	r, ok := d.resizable()
	if !ok || !d.job.AnyRuns || d.job.Parallel || bpfmap.StartOver(d.subject.Emptiers) {
		return
	}
	if d.runs == 0 {
		least := d.last.Wall
		for range 2 {
			d.slice(ctx)
			least = min(least, d.last.Wall)
		}
		r.Resize(func(now int) int {
			d.runs = now * max(int((to+least/2)/max(least, 1)), 1)
			return d.runs
		})
	} else {
		r.Resize(func(int) int { return d.runs })
	}
	d.slice(ctx)
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

// matchFloor makes the slices of the track's floor as short as the track's own.
func (t *track) matchFloor(ctx context.Context) {
	if !t.live() || t.floor == nil || t.last.RunCnt == 0 || t.last.RunCnt >= t.floor.last.RunCnt {
		return
	}
	if r, ok := t.floor.resizable(); ok {
		r.Resize(func(now int) int { return int(uint64(now) * t.last.RunCnt / t.floor.last.RunCnt) })
		t.floor.attached(ctx, func() { t.floor.slice(ctx) })
	}
}
