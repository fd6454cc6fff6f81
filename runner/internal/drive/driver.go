package drive

import (
	"context"
	"io"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// openers attach a job's loaded program to its driver, unless that is an Attacher.
var openers = map[string]func(context.Context, *Environment, *ebpf.Program, *plan.Job) (Driver, error){
	bench.DriverTestRun:   openTestRun,
	bench.DriverVeth:      openVeth,
	bench.DriverPerfEvent: openPerfEvent,
	bench.DriverCgroup:    openCgroup,
	bench.DriverSocket:    openSocket,
	bench.DriverCommand:   openCommand,
	bench.DriverVerify: func(context.Context, *Environment, *ebpf.Program, *plan.Job) (Driver, error) {
		return verified{}, nil
	},
}

// Driver lets a program run.
type Driver interface {
	// Drive lets the program run for one slice and returns when all runs of
	// the slice have ended. It fails soon after ctx is cancelled.
	Drive(ctx context.Context) (Driven, error)
	io.Closer
}

// Driven is what a driver knows about a slice besides the kernel's counters.
type Driven struct {
	// sent and dropped are packets; dropped ones never reached the program.
	sent, dropped uint64
	// sender names what produced the packets; "" for a driver without a sender.
	sender string
	// cpus is the number of CPUs that ran the program at once; 0 means one.
	cpus int
	// retvals are the return values of the slice's test_run calls.
	retvals []uint32
	// Tried counts the actions for the program to see, Done those that took
	// effect.
	Tried, Done uint64
}

// verified is the driver of a program that is only loaded.
type verified struct{}

func (verified) Drive(context.Context) (Driven, error) { return Driven{}, nil }
func (verified) Close() error                          { return nil }

// AddTo adds a slice with this number of runs to a result.
func (d *Driven) AddTo(r *bench.Result, runs uint64) {
	for _, v := range d.retvals {
		if r.Retvals == nil {
			r.Retvals = map[uint32]uint64{}
		}
		r.Retvals[v]++
	}
	r.CPUs = d.cpus
	if d.Tried > 0 {
		if r.Exchanged == nil {
			r.Exchanged = &bench.Exchanged{}
		}
		r.Exchanged.Tried += d.Tried
		r.Exchanged.Done += d.Done
		r.Exchanged.Runs += runs
	}
	if d.sender == "" {
		return
	}
	if r.Traffic == nil {
		r.Traffic = &bench.Traffic{Sender: d.sender}
	}
	r.Traffic.Sent += d.sent
	r.Traffic.Run += runs
	r.Traffic.Dropped += d.dropped
	r.Traffic.Unaccounted += int64(d.sent) - int64(runs) - int64(d.dropped)
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

// Widener is a driver with windows in which others may have had the CPU.
type Widener interface {
	// Widen widens the windows, and reports whether it could.
	Widen() bool
}
