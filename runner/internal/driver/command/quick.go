package command

import (
	"context"
	"math"
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
	// own is how often an order to the worker itself runs the program; it is
	// known once the program has been driven.
	own   int
	known bool
}

func isQuick(load string) bool { return slices.Contains(quickLoads, load) }

func (q *quick) Drive(ctx context.Context) (driver.Driven, error) {
	if err := q.countOwn(ctx); err != nil {
		return driver.Driven{}, err
	}
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

// ownOrders is how many orders to do nothing are counted: others may call the hook
// meanwhile.
const ownOrders = 4

func (q *quick) countOwn(ctx context.Context) error {
	if q.known {
		return nil
	}
	q.own = math.MaxInt
	for range ownOrders {
		before, err := driver.ReadCounters(q.program)
		if err == nil {
			_, err = q.order(ctx, 0)
		}
		if err != nil {
			return err
		}
		after, err := driver.ReadCounters(q.program)
		if err != nil {
			return err
		}
		q.own = min(q.own, int(after.Since(before).RunCnt))
	}
	q.known = true
	return nil
}

func (q *quick) Trigger(ctx context.Context) (events int, err error) {
	q.last, err = q.order(ctx, pathDoings)
	return pathDoings * q.perDoing(), err
}

// perDoing returns how often the load calls the hook each time, beside the runs for the
// worker's orders.
func (q *quick) perDoing() int {
	if q.doings == 0 {
		return 1
	}
	return max((q.runs-q.own+q.doings/2)/q.doings, 1)
}

func (q *quick) Took() time.Duration { return q.last }
