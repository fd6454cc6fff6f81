package drive

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/thread"
)

// exchange is the driver of a program that sees what sockets do.
type exchange struct {
	program *ebpf.Program
	// do does what the program sees so many times, and says how often that came
	// off.
	do    func(ctx context.Context, times int) (done int, err error)
	count int
	// oneWay says that nothing answers what do sends.
	oneWay bool
	// hint is for an error of do.
	hint string
	// open is what is closed in the end, the last one first.
	open []io.Closer
}

// newExchange is one that does nothing yet.
func newExchange(env *Environment, program *ebpf.Program, talk bench.Exchange) *exchange {
	x := &exchange{program: program, count: talk.Count}
	if env.Exact {
		x.count = min(x.count, exactMessages)
	}
	return x
}

func (x *exchange) Drive(ctx context.Context) (Driven, error) {
	done, err := x.do(ctx, x.count)
	if err != nil {
		return Driven{}, bench.WithHint(err, x.hint)
	}
	if done < x.count || x.oneWay {
		// A message that is not answered may still be on its way.
		err = x.settle(ctx)
	}
	return Driven{Tried: uint64(x.count), Done: uint64(done)}, err
}

const (
	// quietTime is how long a program must not run to be taken for done, and
	// settleTime how long that is waited for.
	quietTime  = time.Millisecond
	settleTime = time.Second
)

// settle waits until the program runs no more.
func (x *exchange) settle(ctx context.Context) error {
	last, err := ReadCounters(x.program)
	for began := time.Now(); err == nil && time.Since(began) < settleTime; {
		if err = thread.Wait(ctx, quietTime); err != nil {
			break
		}
		var now Counters
		if now, err = ReadCounters(x.program); now == last {
			break
		}
		last = now
	}
	return err
}

func (x *exchange) Resize(runs func(now int) int) { x.count = max(runs(x.count), 1) }

func (x *exchange) Close() error {
	var errs []error
	for _, c := range slices.Backward(x.open) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// closeOnError closes what was opened so far.
func (x *exchange) closeOnError(err *error) {
	if *err != nil {
		_ = x.Close()
	}
}

// resent is the hint for packets by TCP that are not answered.
const resent = "TCP sends again what a program drops, in its own time: protocol: udp measures a program that drops packets"

// closer is a function as an io.Closer.
type closer func() error

func (c closer) Close() error { return c() }
