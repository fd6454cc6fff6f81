package command

import (
	"context"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// quickLoads do so little at a time that the cost that a hook adds is visible
// and always the same.
var quickLoads = []string{bench.LoadSyscalls, bench.LoadFaults, bench.LoadReads, bench.LoadWrites, bench.LoadSignals}

// pathDoings is how often a load is done while a path is timed: seldom enough
// that the kernel refills none of its stocks in most of the rounds.
const pathDoings = 4

// quick is a program on a hook that a quick load calls. The path includes what
// a call costs besides the program, such as a trap or a trampoline.
type quick struct {
	*repeated
	// runs and doings are those of the latest slice, last is how long the
	// latest trigger took.
	runs, doings int
	last         time.Duration
}

func isQuick(load string) bool { return slices.Contains(quickLoads, load) }

func (q *quick) Drive(ctx context.Context) (driver.Driven, error) {
	before, err := driver.ReadCounters(q.program)
	if err != nil {
		return driver.Driven{}, err
	}
	d, err := q.repeated.Drive(ctx)
	if err != nil {
		return d, err
	}
	after, err := driver.ReadCounters(q.program)
	q.runs, q.doings = int(after.Since(before).RunCnt), q.count
	return d, err
}

func (q *quick) Trigger(ctx context.Context) (events int, err error) {
	q.last, err = q.order(ctx, pathDoings)
	return pathDoings * q.perDoing(), err
}

// perDoing returns how often the load calls the hook each time. The few runs
// beyond that are for the worker's orders.
func (q *quick) perDoing() int {
	if q.doings == 0 {
		return 1
	}
	return max((q.runs+q.doings/2)/q.doings, 1)
}

func (q *quick) Took() time.Duration { return q.last }
