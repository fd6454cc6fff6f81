package runner

import (
	"context"
	"errors"

	"github.com/org/ebpf-bench-action/runner/internal/drive"
)

func (t *track) resizable() (drive.Resizer, bool) {
	if !t.live() {
		return nil, false
	}
	r, ok := t.subject.Driver.(drive.Resizer)
	return r, ok
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
		r.Resize(func(int) int { return int(t.last.RunCnt) })
		t.floor.attached(ctx, func() { t.floor.slice(ctx) })
	}
}
