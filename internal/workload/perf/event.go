// Package perf attaches programs to perf events, which sample a load or belong
// to a tracepoint, and starts the loads: processes that end with the tool.
package perf

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Events are the events that sample a load together: one for each of its
// threads, or one for each CPU. Only file descriptors hold them and the program
// that they run.
type Events struct {
	fds   []int
	links []*link.RawLink
}

// Open opens the event that desc describes, disabled: on the given threads and
// on what they start from then on, or on every CPU for all threads of the
// system.
func Open(desc bench.PerfEvent, tids []int) (*Events, error) {
	desc.Event = cmp.Or(desc.Event, defaultEvent)
	e, err := openPerfEvents(desc, tids)
	if err != nil {
		return nil, fmt.Errorf("open perf event %s: %w", desc.Event, err)
	}
	return e, nil
}

func openPerfEvents(desc bench.PerfEvent, tids []int) (*Events, error) {
	attr, err := perfEventAttr(desc)
	if err != nil {
		return nil, err
	}
	targets, err := perfEventTargets(desc.Scope, tids)
	if err != nil {
		return nil, err
	}
	e := &Events{}
	for _, t := range targets {
		fd, err := unix.PerfEventOpen(attr, t.tid, t.cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if errors.Is(err, unix.ESRCH) {
			continue // the thread has ended since it was listed
		}
		if err != nil {
			e.Close()
			return nil, explainPerfEvent(attr, err)
		}
		e.fds = append(e.fds, fd)
	}
	if len(e.fds) == 0 {
		return nil, errNoThreads
	}
	return e, nil
}

var errNoThreads = errors.New("the load has no threads")

// perfEventTarget is what one event counts on, -1 meaning all.
type perfEventTarget struct{ tid, cpu int }

func perfEventTargets(scope bench.Scope, tids []int) ([]perfEventTarget, error) {
	var targets []perfEventTarget
	switch scope {
	case bench.ScopeProcess, "":
		for _, tid := range tids {
			targets = append(targets, perfEventTarget{tid, -1})
		}
	case bench.ScopeAll:
		cpus, err := onlineCPUs()
		if err != nil {
			return nil, err
		}
		for _, cpu := range cpus {
			targets = append(targets, perfEventTarget{-1, cpu})
		}
	default:
		return nil, fmt.Errorf("unknown scope %q", scope)
	}
	return targets, nil
}

// Attach makes the events run prog at each sample. Each takes one program.
func (e *Events) Attach(prog *ebpf.Program) error {
	if prog.Type() != ebpf.PerfEvent {
		return fmt.Errorf("attach to perf event: program is of type %s, not %s", prog.Type(), ebpf.PerfEvent)
	}
	for _, fd := range e.fds {
		l, err := link.AttachRawLink(link.RawLinkOptions{Target: fd, Program: prog, Attach: ebpf.AttachPerfEvent})
		if err == nil {
			e.links = append(e.links, l)
			continue
		}
		// Before Linux 5.15 a perf event takes no link, and the error is
		// EINVAL, as for much else. So the ioctl, which all kernels have,
		// decides.
		if err := attachByIoctl(fd, prog); err != nil {
			return fmt.Errorf("attach to perf event: %w", err)
		}
	}
	return nil
}

// attachByIoctl attaches prog to an event for as long as the event is open.
func attachByIoctl(fd int, prog *ebpf.Program) error {
	defer runtime.KeepAlive(prog)
	return unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, prog.FD())
}

// Enable makes the events count, and so sample.
func (e *Events) Enable() error { return e.ioctl(unix.PERF_EVENT_IOC_ENABLE, "enable") }

// Disable makes the events stop counting.
func (e *Events) Disable() error { return e.ioctl(unix.PERF_EVENT_IOC_DISABLE, "disable") }

func (e *Events) ioctl(req uint, verb string) error {
	for _, fd := range e.fds {
		if err := unix.IoctlSetInt(fd, req, 0); err != nil {
			return fmt.Errorf("%s perf event: %w", verb, err)
		}
	}
	return nil
}

// Close detaches the program and closes the events. It may be called more
// than once.
func (e *Events) Close() error {
	var errs []error
	for _, l := range e.links {
		errs = append(errs, l.Close())
	}
	for _, fd := range e.fds {
		errs = append(errs, unix.Close(fd))
	}
	*e = Events{}
	return errors.Join(errs...)
}
