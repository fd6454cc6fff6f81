package exchange

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// exchange is the driver of a program that sees what sockets do.
type exchange struct {
	program *ebpf.Program
	// do performs the action that the program sees this many times, and returns
	// how often it took effect.
	do    func(ctx context.Context, times int) (done int, err error)
	count int
	// mostRuns is how often the program ran in a slice, at most, if known.
	mostRuns uint64
	// oneWay says that nothing answers what do sends.
	oneWay bool
	// hint is the hint for an error of do.
	hint string
	// open is closed in the end, in reverse order.
	open []io.Closer
}

// exactMessages is the most messages in a slice of exact mode: each takes a hundred thousand
// instructions besides those of the program.
const exactMessages = 16

// newExchange returns an exchange that does nothing yet.
func newExchange(env *driver.Environment, program *ebpf.Program, talk bench.Exchange) *exchange {
	x := &exchange{program: program, count: talk.Count}
	if env.Exact {
		x.count = min(x.count, exactMessages)
	}
	return x
}

func (x *exchange) Drive(ctx context.Context) (driver.Driven, error) {
	before, err := driver.ReadCounters(x.program)
	if err != nil {
		return driver.Driven{}, err
	}
	done, err := x.do(ctx, x.count)
	if err != nil {
		return driver.Driven{}, bench.WithHint(err, x.hint)
	}
	if done < x.count || x.oneWay {
		// A message without an answer may still be on its way.
		err = x.settle(ctx, before)
	}
	return driver.Driven{Tried: uint64(x.count), Done: uint64(done)}, err
}

const (
	// quietTime is how long a program must not run to count as done, settleTime
	// how long to wait for that.
	quietTime  = time.Millisecond
	settleTime = time.Second
)

// settle waits until the program no longer runs, or has run as often as it ever did in
// a slice.
func (x *exchange) settle(ctx context.Context, before driver.Counters) error {
	last, err := driver.ReadCounters(x.program)
	for began := time.Now(); err == nil && time.Since(began) < settleTime; {
		runs := last.Since(before).RunCnt
		if runs > 0 && runs == x.mostRuns {
			break
		}
		if err = thread.Wait(ctx, quietTime); err != nil {
			break
		}
		var now driver.Counters
		if now, err = driver.ReadCounters(x.program); now == last {
			x.mostRuns = max(x.mostRuns, runs)
			break
		}
		last = now
	}
	return err
}

func (x *exchange) Resize(runs func(now int) int) {
	x.count, x.mostRuns = max(runs(x.count), 1), 0
}

func (x *exchange) Close() error {
	var errs []error
	for _, c := range slices.Backward(x.open) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// closeOnError closes what is open so far.
func (x *exchange) closeOnError(err *error) {
	if *err != nil {
		_ = x.Close()
	}
}

// resent is the hint for TCP packets that get no answer.
const resent = "TCP sends again what a program drops, in its own time: protocol: udp measures a program that drops packets"

// closer makes a function an io.Closer.
type closer func() error

func (c closer) Close() error { return c() }
