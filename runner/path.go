package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/drive"
)

// countPath counts what an event takes with the program attached and without
// it. That has in it what run_time_ns leaves out: the trampoline, the hook,
// what the kernel does to get there. Statistics must be off, whose own cost is
// on that path. The program is detached afterwards.
func (t *track) countPath(ctx context.Context) {
	if !t.live() {
		return
	}
	d, ok := t.subject.Driver.(drive.PathDriver)
	if !ok {
		return
	}
	path, err := comparePath(ctx, d)
	switch {
	case ctx.Err() != nil: // is not a fault of the benchmark's
		return
	case err != nil:
		t.warn(fmt.Sprintf("the cost of the whole path could not be counted: %v", err))
		return
	}
	t.result.Path = path
}

func comparePath(ctx context.Context, d drive.PathDriver) (*bench.Path, error) {
	events, attached, err := leastTime(ctx, d)
	if err != nil {
		return nil, err
	}
	if err := d.Detach(); err != nil {
		return nil, fmt.Errorf("detach: %w", err)
	}
	_, detached, err := leastTime(ctx, d)
	return &bench.Path{Events: events, Attached: attached, Detached: detached}, err
}

// pathRounds is how often the events happen. The kernel keeps pages and buffers
// in stock that it fills up every few dozen packets, so these are rounds enough
// for some in which it need not.
const (
	pathRounds = 192
	// pathAlike is how many rounds make a time one that is not there by chance:
	// now and then a round finds something done that the others have to do.
	pathAlike = 4
)

// leastTime is what the quickest rounds took, in nanoseconds of the machine's
// clock: those that no tick fell into, and no filling up of a stock.
func leastTime(ctx context.Context, d drive.PathDriver) (events int, least uint64, err error) {
	var took []uint64
	for range pathRounds {
		began := time.Now()
		if events, err = d.Trigger(ctx); err != nil {
			return 0, 0, err
		}
		elapsed := time.Since(began)
		if s, ok := d.(drive.SelfTimed); ok {
			elapsed = s.Took()
		}
		took = append(took, uint64(elapsed.Nanoseconds()))
	}
	return events, leastAlike(took, pathAlike), nil
}

// leastAlike is the smallest value that occurs at least so many times, or the
// smallest one.
func leastAlike(values []uint64, times int) uint64 {
	slices.Sort(values)
	for i := range values[:len(values)-times+1] {
		if values[i] == values[i+times-1] {
			return values[i]
		}
	}
	return values[0]
}
