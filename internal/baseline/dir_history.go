package baseline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// History implements Store. It reads the points of the runs, not the runs.
func (d *Dir) History(ctx context.Context, q Query, wanted ...Series) (*History, error) {
	runs, problems, err := d.List(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	h := newHistorian(runs, wanted)
	h.history.Problems = problems
	if len(runs) == 0 {
		return h.history, nil
	}
	root, err := d.root()
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	defer root.Close()

	var (
		all    sync.WaitGroup
		next   atomic.Int64
		failed = make(chan error, 1)
	)
	for range min(runtime.GOMAXPROCS(0), len(runs)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(runs); i = int(next.Add(1)) - 1 {
				err := ctx.Err()
				if err == nil {
					err = d.remember(root, h, i)
				}
				if err != nil {
					select {
					case failed <- err:
					default:
					}
					return
				}
			}
		})
	}
	all.Wait()
	select {
	case err := <-failed:
		return nil, fmt.Errorf("read history: %w", err)
	default:
		return h.history, nil
	}
}

// remember adds run i to the history. Points that are damaged are a problem,
// and those in the run file take their place.
func (d *Dir) remember(root *os.Root, h *historian, i int) error {
	id := h.history.Runs[i].ID
	points, err := readFile(root, pointsKind, id)
	if err == nil {
		err = h.add(i, points)
	}
	if err == nil || errors.Is(err, errHistory) {
		return err
	}
	h.problem(d.problem(pointsKind.path(id), rebuildHint(err)))
	s, err := readRun(root, id)
	if err != nil {
		h.problem(d.problem(runKind.path(id), removeHint(err)))
		return nil
	}
	return h.add(i, s.points)
}

func (h *historian) problem(p Problem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.history.Problems = append(h.history.Problems, p)
}
