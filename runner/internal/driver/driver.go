// Package driver has what the ways to run a program share: what they do, and the
// environment that they do it in.
package driver

import (
	"context"
	"io"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

// Driver lets a program run.
type Driver interface {
	// Drive lets the program run for one slice and returns when all runs of
	// the slice have ended. It fails soon after ctx is cancelled.
	Drive(ctx context.Context) (Driven, error)
	io.Closer
}

// Driven is what a driver knows about a slice besides the kernel's counters.
type Driven struct {
	// Sent and Dropped are packets; dropped ones never reached the program.
	Sent, Dropped uint64
	// Sender names what produced the packets; "" for a driver without a sender.
	Sender string
	// CPUs is the number of CPUs that ran the program at once; 0 means one.
	CPUs int
	// Retvals are the return values of the slice's test_run calls.
	Retvals []uint32
	// Tried counts the actions for the program to see, Done those that took
	// effect.
	Tried, Done uint64
}

// AddTo adds a slice with this number of runs to a result.
func (d *Driven) AddTo(r *bench.Result, runs uint64) {
	for _, v := range d.Retvals {
		if r.Retvals == nil {
			r.Retvals = map[uint32]uint64{}
		}
		r.Retvals[v]++
	}
	r.CPUs = d.CPUs
	if d.Tried > 0 {
		if r.Exchanged == nil {
			r.Exchanged = &bench.Exchanged{}
		}
		r.Exchanged.Tried += d.Tried
		r.Exchanged.Done += d.Done
		r.Exchanged.Runs += runs
	}
	if d.Sender == "" {
		return
	}
	if r.Traffic == nil {
		r.Traffic = &bench.Traffic{Sender: d.Sender}
	}
	r.Traffic.Sent += d.Sent
	r.Traffic.Run += runs
	r.Traffic.Dropped += d.Dropped
	r.Traffic.Unaccounted += int64(d.Sent) - int64(runs) - int64(d.Dropped)
}

// Idler is a driver that can order a slice in which nothing is done: then only
// the order itself runs the program. Idle returns how often a normal slice does
// its action.
type Idler interface {
	Idle(ctx context.Context) (doings int, err error)
}

// Attacher is a driver of a hook that programs share. The program runs only
// between Attach and Detach, so that no other is measured with it.
type Attacher interface {
	Attach(ctx context.Context) error
	// Detach does nothing if the program is not attached.
	Detach() error
}

// Hooked is a driver of a program on a hook that others may use, too.
type Hooked interface{ Hook() *hook.Hook }

// MachineWide is a driver of a hook that the whole machine calls: the figures
// include the calls of others.
type MachineWide interface {
	Driver
	MachineWide()
}

// PathDriver is a driver whose events also happen without the program, so that
// it can measure what the program adds to an event's whole path.
type PathDriver interface {
	// Trigger makes as few events happen as there are kinds of them, and
	// returns their number. No event is in flight when it returns.
	Trigger(ctx context.Context) (events int, err error)
	// Detach removes the program from its hook.
	Detach() error
}

// SelfTimed is a PathDriver that knows how long the latest events took, without
// the time to order them.
type SelfTimed interface{ Took() time.Duration }

// Resizer is a driver whose slices can have another number of runs.
type Resizer interface {
	// Resize sets the size of a slice, the same for each packet. It passes the
	// present size to size. The unit is the driver's: runs, or what the program runs
	// for, each time once or more often.
	Resize(size func(now int) int)
}

// Together is a driver of a program that runs on several CPUs at once.
type Together interface {
	// Alone makes slices run on one CPU only, or again on all.
	Alone(bool)
	// Apart reports whether the CPUs did not really run at the same time in the latest
	// slice.
	Apart() bool
}

// Repeater is a driver whose runs can share a call, in which each begins with the input
// that the one before it left. empty empties the maps that are emptied between slices.
type Repeater interface {
	// Inputs returns how many inputs One can take.
	Inputs() int
	// One runs the program once on an input, and returns the return value.
	One(i int) (retval uint32, err error)
	// Depends returns what a run depends on that the run before it in the same call
	// left, or "" if the repeats of a call are like runs with a call of their own: they
	// leave the same packet, context and return value, execute as many instructions,
	// and, where they change their input, call nothing that may cost something else
	// then. count returns how many instructions the program has executed. What
	// runs leave in maps they leave both ways.
	Depends(ctx context.Context, empty func() error, count func() (uint64, error)) (on string, err error)
	// Strays returns on what of its input a run depends if one of very many in a call
	// leaves something else than the others, which those that follow then find; or "".
	Strays(empty func() error) (on string, err error)
	// Leaves returns what a run of each input leaves of it.
	Leaves(empty func() error) ([]progrun.Left, error)
	// StraysInSlice is like Strays for the runs of a slice, which should also leave
	// what those left that showed that they do not depend on one another.
	StraysInSlice(empty func() error) (on string, err error)
}

// What a run may depend on: what the run before it left of its input.
const (
	OnPacket  = "the packet"
	OnContext = "the context"
	OnEither  = "the packet or its context"
)

// Widener is a driver with windows in which others may have had the CPU.
type Widener interface {
	// Widen widens the windows, and reports whether it could.
	Widen() bool
}
