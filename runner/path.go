package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/drive"
)

// countPath counts the instructions of an event with the program attached and
// without it. Unlike run_time_ns, this includes the trampoline, the hook and
// the way to it. Statistics must be off, because their cost is on that path.
// The program is detached afterwards.
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
	case ctx.Err() != nil: // not a fault of the benchmark
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

// The kernel stocks pages and buffers and refills the stock every few dozen
// packets, so there must be enough rounds for some without a refill.
const (
	pathRounds = 192
	// enoughAlike is how many rounds must agree on a time for it to be no
	// accident: now and then a round finds something done that the others have
	// to do.
	enoughAlike = 4
)

// leastTime returns the time of the quickest rounds, in nanoseconds of the
// machine's clock: the rounds without a timer tick or a refill of a stock. It fails if no
// rounds agree on it.
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
	least, ok := leastRepeated(took, enoughAlike)
	if !ok {
		return 0, 0, fmt.Errorf("what its %d rounds cost besides the program differs by up to %s instructions",
			pathRounds, unit.Count(float64(slices.Max(took)-slices.Min(took))))
	}
	return events, least, nil
}

// leastRepeated returns the smallest value that occurs at least times times, and whether
// there is one.
func leastRepeated(values []uint64, times int) (least uint64, ok bool) {
	slices.Sort(values)
	for i := range max(len(values)-times+1, 0) {
		if values[i] == values[i+times-1] {
			return values[i], true
		}
	}
	return 0, false
}
