package runner

import (
	"context"
	"errors"
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

// makeRoom makes the track's slices short enough to fill no map that is emptied
// between them.
func (t *track) makeRoom(ctx context.Context) {
	if !t.live() {
		return
	}
	made, err := t.subject.makeRoom(func() error {
		t.slice(ctx)
		return errors.Join(t.err, ctx.Err())
	})
	switch {
	case ctx.Err() != nil, t.err != nil:
	case err != nil:
		t.err = err
	case !made:
		t.warn("a map that is emptied between slices fills up within one: what a full one costs is part of the figures")
	}
}

// makeRoom halves slices until the latest has filled no map that is emptied between
// them: how a program fares with a full map is another benchmark. It tells whether
// one has room for the shortest slice.
func (s *subject) makeRoom(slice func() error) (bool, error) {
	for {
		full, err := s.fillsMaps()
		if err != nil || !full {
			return err == nil, err
		}
		r, ok := s.driver.(resizer)
		if !ok {
			return false, nil
		}
		was, is := 0, 0
		r.resize(func(now int) int { was = now; return now / 2 })
		r.resize(func(now int) int { is = now; return now })
		if is >= was {
			return false, nil
		}
		if err := slice(); err != nil {
			return false, err
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
