package runner

import (
	"context"
	"errors"
	"time"

	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/drive"
)

func (t *track) resizable() (drive.Resizer, bool) {
	if !t.live() {
		return nil, false
	}
	r, ok := t.subject.Driver.(drive.Resizer)
	return r, ok
}

// sliceTime is how long a slice takes where the suite leaves the number of its runs
// open: what it costs besides them, some 25 µs, is then 5%.
const sliceTime = 500 * time.Microsecond

// lengthen gives the track's slices as many times their runs as take about this long, the
// same number in each load, unless the suite sets it or maps are emptied between slices.
func (t *track) lengthen(ctx context.Context, to time.Duration) {
	r, ok := t.resizable()
	if !ok || !t.job.AnyRuns || t.job.Parallel || bpfmap.StartOver(t.subject.Emptiers) {
		return
	}
	if t.runs == 0 {
		least := t.last.Wall
		for range 2 {
			t.slice(ctx)
			least = min(least, t.last.Wall)
		}
		r.Resize(func(now int) int {
			t.runs = now * max(int((to+least/2)/max(least, 1)), 1)
			return t.runs
		})
	} else {
		r.Resize(func(int) int { return t.runs })
	}
	t.slice(ctx)
}

// makeRoom shortens the track's slices so that they fill no map that is emptied
// between them.
func (t *track) makeRoom(ctx context.Context) {
	if !t.live() {
		return
	}
	made, err := t.subject.MakeRoom(func() error {
		t.slice(ctx)
		return errors.Join(t.err, ctx.Err())
	})
	switch {
	case ctx.Err() != nil, t.err != nil:
	case err != nil:
		t.err = err
	case !made:
		t.warn("a map that is emptied between slices fills up within one: the figures include the cost of a full one")
	}
}

// matchFloor makes the slices of the track's floor as short as the track's own.
func (t *track) matchFloor(ctx context.Context) {
	if t.floor == nil || !t.live() || t.last.RunCnt == 0 || t.last.RunCnt >= t.floor.last.RunCnt {
		return
	}
	if r, ok := t.floor.resizable(); ok {
		r.Resize(func(now int) int { return int(uint64(now) * t.last.RunCnt / t.floor.last.RunCnt) })
		t.floor.attached(ctx, func() { t.floor.slice(ctx) })
	}
}
