package folder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

// History implements Store. It reads the points of the runs, not the runs.
func (d *Dir) History(ctx context.Context, q baseline.Query, wanted ...baseline.Series) (*baseline.History, error) {
	runs, problems, err := d.List(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	h := format.NewHistorian(runs, wanted)
	h.History.Problems = problems
	if len(runs) == 0 {
		return h.History, nil
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
		return h.History, nil
	}
}

// remember adds run i to the history. If the points are damaged, it reports a problem and
// uses those in the run file.
func (d *Dir) remember(root *os.Root, h *format.Historian, i int) error {
	id := h.History.Runs[i].ID
	points, err := readFile(root, format.PointsKind, id)
	if err == nil {
		err = h.Add(i, points)
	}
	if err == nil || errors.Is(err, format.ErrHistory) {
		return err
	}
	h.Problem(d.problem(format.PointsKind.Path(id), rebuildHint(err)))
	s, err := readRun(root, id)
	if err != nil {
		h.Problem(d.problem(format.RunKind.Path(id), removeHint(err)))
		return nil
	}
	return h.Add(i, s.Table)
}
