package drive

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/internal/workload/vethpair"
)

// Environment is what all subjects of a run share: the thread's CPU and the
// place where XDP programs are held.
type Environment struct {
	parking vethpair.Parking
	// CPUs are those that the process may use.
	CPUs []int
	// Exact says that the clock counts instructions.
	Exact bool
	// Late says that XDP programs are held only from their first call of several
	// runs on: most that are counted need none.
	Late bool
	// Counters are the CPU's of the thread; none in exact mode.
	Counters *pmu.Counters
	// Window bounds the window of a perf event where it is not 0, as far as that
	// leaves it a few samples.
	Window time.Duration
	// NotHeld is why the last program could not be held, for a warning.
	NotHeld error
}

// NewEnvironment prepares the calling thread, which must be locked.
func NewEnvironment(exact bool) (*Environment, error) {
	cpus, err := thread.Pin()
	if err != nil {
		return nil, fmt.Errorf("pin the measuring thread to a CPU: %w", err)
	}
	env := &Environment{Exact: exact, CPUs: cpus}
	if exact {
		env.Window = ExactWindow
		env.Counters = &pmu.Counters{} // nothing counts there but the clock
		return env, nil
	}
	if env.Counters, err = pmu.Open(HardwareEvents); err != nil {
		return nil, fmt.Errorf("open the hardware counters: %w", err)
	}
	return env, nil
}

// hold keeps an XDP program in the kernel's dispatcher as long as it is
// measured. Without that it still runs, only with fewer rounds in its time.
func (e *Environment) hold(p *ebpf.Program) io.Closer {
	if e.Exact && !e.Late {
		// Time is not a matter there, and where in the dispatcher a program is
		// held would be part of its count.
		return nil
	}
	held, err := e.parking.Hold(p)
	if err != nil {
		e.NotHeld = err
		return nil
	}
	return held
}

// Close lets go of the XDP programs that are held, and of the counters.
func (e *Environment) Close() error { return errors.Join(e.parking.Close(), e.Counters.Close()) }

// In exact mode the timer's tick is in no count of a slice that it does not fall into.
const (
	// ExactWindow bounds the window of a perf event to a tenth of the time between
	// two ticks. What a sample interrupts differs, and with it what it costs: with few
	// samples in a round, and many rounds, there are some in which all samples are
	// alike.
	ExactWindow = 400 * time.Microsecond
	// exactMessages is how many messages a slice has at most: each takes a hundred
	// thousand instructions beside those of the program.
	exactMessages = 16
)
