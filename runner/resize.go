package runner

import (
	"context"
	"fmt"
)

// resizer is a driver whose slices can have another number of runs.
type resizer interface {
	// resize sets the number of runs of a slice; it is the same for each
	// packet. runs is the number now.
	resize(runs func(now int) int)
}

func (t *track) resizable() (resizer, bool) {
	if !t.live() {
		return nil, false
	}
	r, ok := t.subject.driver.(resizer)
	return r, ok
}

// makeRoom halves the track's slices until none fills a map that is emptied
// between them: how a program fares with a full map is another benchmark.
func (t *track) makeRoom(ctx context.Context) {
	for t.live() {
		full, err := t.subject.fillsMaps()
		if err != nil {
			t.err = err
		}
		if !full || err != nil {
			return
		}
		r, ok := t.resizable()
		before := t.last.runCnt
		if ok {
			r.resize(func(now int) int { return now / 2 })
			t.slice(ctx)
			if ctx.Err() != nil {
				return
			}
		}
		if !ok || t.last.runCnt >= before {
			t.warn("a map that is emptied between slices fills up within one: what a full one costs is part of the figures")
			return
		}
	}
}

// matchFloor makes the slices of the track's floor as short as its own.
func (t *track) matchFloor(ctx context.Context) {
	if t.floor == nil || !t.live() || t.last.runCnt == 0 || t.last.runCnt >= t.floor.last.runCnt {
		return
	}
	if r, ok := t.floor.resizable(); ok {
		r.resize(func(int) int { return int(t.last.runCnt) })
		t.floor.slice(ctx)
	}
}

// fillsMaps tells whether the latest slice has filled a map.
func (s *subject) fillsMaps() (bool, error) {
	for _, e := range s.emptiers {
		full, err := e.Full()
		if err != nil {
			return false, fmt.Errorf("count what is in a map: %w", err)
		}
		if full {
			return true, nil
		}
	}
	return false, nil
}
