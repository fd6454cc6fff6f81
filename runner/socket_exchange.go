package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
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
func newExchange(env *environment, program *ebpf.Program, talk bench.Exchange) *exchange {
	x := &exchange{program: program, count: talk.Count}
	if env.exact {
		x.count = min(x.count, exactMessages)
	}
	return x
}

func (x *exchange) drive(ctx context.Context) (driven, error) {
	done, err := x.do(ctx, x.count)
	if err != nil {
		return driven{}, bench.WithHint(err, x.hint)
	}
	if done < x.count || x.oneWay {
		// A message that is not answered may still be on its way.
		err = x.settle(ctx)
	}
	return driven{tried: uint64(x.count), done: uint64(done)}, err
}

const (
	// quietTime is how long a program must not run to be taken for done, and
	// settleTime how long that is waited for.
	quietTime  = time.Millisecond
	settleTime = time.Second
)

// settle waits until the program runs no more.
func (x *exchange) settle(ctx context.Context) error {
	last, err := readCounters(x.program)
	for began := time.Now(); err == nil && time.Since(began) < settleTime; {
		if err = wait(ctx, quietTime); err != nil {
			break
		}
		var now counters
		if now, err = readCounters(x.program); now == last {
			break
		}
		last = now
	}
	return err
}

func (x *exchange) resize(runs func(now int) int) { x.count = max(runs(x.count), 1) }

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

// talkOf is a benchmark's exchange with what it leaves to the program's hook:
// the protocol, which must be among those that the hook sees, and the version of
// IP where there is a hook for each.
func talkOf(e *bench.Exchange, hook string, ipv6 bool, protocols ...bench.Protocol) (bench.Exchange, error) {
	talk := *e
	talk.IPv6 = e.IPv6 || ipv6
	if talk.Protocol == "" {
		talk.Protocol = protocols[0]
	}
	if !slices.Contains(protocols, talk.Protocol) {
		return talk, fmt.Errorf("%s sees no %s", hook, talk.Protocol)
	}
	return talk, nil
}

// unanswered is the warning of a program that keeps messages from their answers,
// empty where there is none.
func unanswered(d *bench.Exchanged) string {
	if d == nil || d.Done == d.Tried {
		return ""
	}
	return fmt.Sprintf("%d of %d messages or calls came to nothing: the program drops, refuses or redirects them, or this machine is too busy for them; its runs are what is measured", d.Tried-d.Done, d.Tried)
}
