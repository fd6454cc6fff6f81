package driver

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/internal/workload/guard"
	"github.com/org/ebpf-bench-action/internal/workload/vethpair"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
)

// Environment is shared by all subjects of a run: the thread's CPU and the
// place that holds XDP programs.
type Environment struct {
	parking vethpair.Parking
	// CPUs are the CPUs that the process may use.
	CPUs []int
	// Exact says that the clock counts instructions.
	Exact bool
	// Late delays holding an XDP program until its first call of several runs:
	// most that are counted need none.
	Late bool
	// Counters are the hardware counters of the thread; there are none in exact
	// mode.
	Counters *pmu.Counters
	// Window, unless 0, bounds the window of a perf event, as long as that
	// leaves it a few samples.
	Window time.Duration
	shared []shared
	// grace keeps the waits for attaching and detaching short; nil if that is forbidden.
	grace *guard.Guard
	// NotHeld is why the last program could not be held, for a warning.
	NotHeld error
}

// HardwareEvents are the events to count if the machine can.
var HardwareEvents = pmu.Hardware

// NewEnvironment prepares the calling thread, which must be locked.
func NewEnvironment(exact bool) (*Environment, error) {
	cpus, err := thread.Pin()
	if err != nil {
		return nil, fmt.Errorf("pin the measuring thread to a CPU: %w", err)
	}
	env := &Environment{Exact: exact, CPUs: cpus}
	if exact {
		env.Window = ExactWindow
		env.Counters = &pmu.Counters{} // nothing but the clock counts there
		return env, nil
	}
	if env.Counters, err = pmu.Open(HardwareEvents); err != nil {
		return nil, fmt.Errorf("open the hardware counters: %w", err)
	}
	// Where it is forbidden, there are just fewer rounds in the same time.
	env.grace, _ = guard.ShortGracePeriods()
	return env, nil
}

// Hold keeps an XDP program in the kernel's dispatcher while it is measured.
// Without this it still runs, but in fewer rounds in its time.
func (e *Environment) Hold(p *ebpf.Program) io.Closer {
	if e.Exact && !e.Late {
		// Time does not matter in exact mode, and the place in the dispatcher
		// would be part of the program's count.
		return nil
	}
	held, err := e.parking.Hold(p)
	if err != nil {
		e.NotHeld = err
		return nil
	}
	return held
}

// Open opens a hook. It stays open until LeaveHooks: the next program is attached to it
// while the kernel still waits for the end of the last.
func (e *Environment) Open(h *hook.Hook) (hook.Opened, error) {
	return Share(e, "hook "+h.Section, h.Open)
}

// Close releases the held XDP programs, the hooks, the places and the counters, and ends
// the loads.
func (e *Environment) Close() error {
	err := errors.Join(e.LeaveHooks(), e.parking.Close(), e.Counters.Close())
	if e.grace != nil {
		err = errors.Join(err, e.grace.Close())
	}
	return err
}

// ExactWindow bounds the window of a perf event in exact mode to a tenth of the time
// between two timer ticks: a slice that the tick misses has none of it in its count. Each
// sample interrupts something else, and so costs something else. With few samples per round
// and many rounds, there are rounds in which all samples are alike.
const ExactWindow = 400 * time.Microsecond
