package runner

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/internal/workload/vethpair"
)

// environment is what all subjects of a run share: the thread's CPU and the
// place where XDP programs are held.
type environment struct {
	parking vethpair.Parking
	// cpus are those that the process may use.
	cpus []int
	// exact says that the clock counts instructions.
	exact bool
	// late says that XDP programs are held only from their first call of several
	// runs on: most that are counted need none.
	late bool
	// counters are the CPU's of the thread; none in exact mode.
	counters *pmu.Counters
	// window bounds the window of a perf event where it is not 0, as far as that
	// leaves it a few samples.
	window time.Duration
	// notHeld is why the last program could not be held, for a warning.
	notHeld error
}

// newEnvironment prepares the calling thread, which must be locked.
func newEnvironment(exact bool) (*environment, error) {
	cpus, err := pinThread()
	if err != nil {
		return nil, fmt.Errorf("pin the measuring thread to a CPU: %w", err)
	}
	env := &environment{exact: exact, cpus: cpus}
	if exact {
		env.window = exactWindow
		env.counters = &pmu.Counters{} // nothing counts there but the clock
		return env, nil
	}
	if env.counters, err = pmu.Open(hardwareEvents); err != nil {
		return nil, fmt.Errorf("open the hardware counters: %w", err)
	}
	return env, nil
}

// allowedCPUs are the CPUs that the calling thread may use.
func allowedCPUs() ([]int, error) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return nil, err
	}
	var cpus []int
	for cpu := range len(allowed) * 64 {
		if allowed.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// pinThread keeps the calling thread on the last CPU that it may use: CPU 0
// serves most interrupts, and a thread that moves pays for cold caches. It
// returns all that it could use before.
func pinThread() ([]int, error) {
	cpus, err := allowedCPUs()
	if err != nil {
		return nil, err
	}
	return cpus, pinTo(cpus[len(cpus)-1])
}

// pinTo keeps the calling thread on a CPU.
func pinTo(cpu int) error {
	var one unix.CPUSet
	one.Set(cpu)
	return unix.SchedSetaffinity(0, &one)
}

// hold keeps an XDP program in the kernel's dispatcher as long as it is
// measured. Without that it still runs, only with fewer rounds in its time.
func (e *environment) hold(p *ebpf.Program) io.Closer {
	if e.exact && !e.late {
		// Time is no matter there, and where in the dispatcher a program is
		// held would be part of its count.
		return nil
	}
	held, err := e.parking.Hold(p)
	if err != nil {
		e.notHeld = err
		return nil
	}
	return held
}

func (e *environment) Close() error { return errors.Join(e.parking.Close(), e.counters.Close()) }
