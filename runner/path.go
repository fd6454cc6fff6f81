package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// countPath counts the instructions of an event with the program attached and
// without it. Unlike run_time_ns, this includes the trampoline, the hook and
// the way to it. Statistics must be off, because their cost is on that path.
// The program is detached afterwards.
func (t *track) countPath(ctx context.Context) {
	if !t.live() {
		return
	}
	d, ok := t.subject.Driver.(driver.PathDriver)
	if !ok {
		return
	}
	path, err := countedPath(ctx, d)
	switch {
	case ctx.Err() != nil: // not a fault of the benchmark
		return
	case err != nil:
		t.warn(fmt.Sprintf("the cost of the whole path could not be counted: %v", err))
		return
	}
	t.result.Path = path
}

func countedPath(ctx context.Context, d driver.PathDriver) (*bench.Path, error) {
	events, attached, detached, err := timePath(ctx, d)
	if err != nil {
		return nil, err
	}
	path := &bench.Path{Events: events}
	if path.Attached, err = quickest(attached); err != nil {
		return nil, err
	}
	path.Detached, err = quickest(detached)
	return path, err
}

// timePath times pathRounds rounds of events with the program attached, detaches it,
// and times as many without it.
func timePath(ctx context.Context, d driver.PathDriver) (events int, attached, detached []uint64, err error) {
	if events, attached, err = timeRounds(ctx, d); err != nil {
		return 0, nil, nil, err
	}
	if err := d.Detach(); err != nil {
		return 0, nil, nil, fmt.Errorf("detach: %w", err)
	}
	_, detached, err = timeRounds(ctx, d)
	return events, attached, detached, err
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

// timeRounds returns how many events a round has, and the time of each round in
// nanoseconds of the machine's clock.
func timeRounds(ctx context.Context, d driver.PathDriver) (events int, took []uint64, err error) {
	for range pathRounds {
		began := time.Now()
		if events, err = d.Trigger(ctx); err != nil {
			return 0, nil, err
		}
		elapsed := time.Since(began)
		if s, ok := d.(driver.SelfTimed); ok {
			elapsed = s.Took()
		}
		took = append(took, uint64(elapsed.Nanoseconds()))
	}
	return events, took, nil
}

// quickest returns the time of the quickest rounds: those without a timer tick or a
// refill of a stock. It fails unless enoughAlike rounds agree on it.
func quickest(took []uint64) (uint64, error) {
	least, ok := leastRepeated(took, enoughAlike)
	if !ok {
		return 0, fmt.Errorf("what its %d rounds cost besides the program differs by up to %s instructions",
			len(took), unit.Count(float64(slices.Max(took)-slices.Min(took))))
	}
	return least, nil
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
