package runner

import (
	"fmt"
	"io"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload"
)

// environment is what all subjects of a run share: the thread's CPU and the
// place where XDP programs are held.
type environment struct {
	parking workload.Parking
	// exact says that the clock counts instructions.
	exact bool
	// window bounds the window of a perf event where it is not 0, as far as that
	// leaves it a few samples.
	window time.Duration
	// notHeld is why the last program could not be held, for a warning.
	notHeld error
}

// newEnvironment prepares the calling thread, which must be locked.
func newEnvironment(exact bool) (*environment, error) {
	if err := pinThread(); err != nil {
		return nil, fmt.Errorf("pin the measuring thread to a CPU: %w", err)
	}
	env := &environment{exact: exact}
	if exact {
		env.window = exactWindow
	}
	return env, nil
}

// pinThread keeps the thread on the last CPU that it may use: CPU 0 serves
// most interrupts, and a thread that moves pays for cold caches.
func pinThread() error {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return err
	}
	last := -1
	for cpu := range len(allowed) * 64 {
		if allowed.IsSet(cpu) {
			last = cpu
		}
	}
	var one unix.CPUSet
	one.Set(last)
	return unix.SchedSetaffinity(0, &one)
}

// hold keeps an XDP program in the kernel's dispatcher as long as it is
// measured. Without that it still runs, only with fewer rounds in its time.
func (e *environment) hold(p *ebpf.Program) io.Closer {
	if e.exact {
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

func (e *environment) Close() error { return e.parking.Close() }
