//go:build linux

package perfprofiler

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// cpuClock is an event that fires frequency times in each second that a CPU is
// busy, whatever runs on it. The CPU clock needs no hardware counter, so it
// exists in virtual machines, too.
func cpuClock(frequency uint64) unix.PerfEventAttr {
	return unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_SOFTWARE,
		Config: unix.PERF_COUNT_SW_CPU_CLOCK,
		Sample: frequency,
		Bits:   unix.PerfBitFreq | unix.PerfBitDisabled | unix.PerfBitExcludeIdle,
	}
}

// attachEverywhere runs prog each time the event fires on any CPU, until the
// events that it returns are closed. Those that it opened before an error are
// returned with it.
func attachEverywhere(attr unix.PerfEventAttr, prog *ebpf.Program) (events []io.Closer, err error) {
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return nil, err
	}
	for cpu := range cpus {
		event, err := openEvent(cpu, attr)
		if errors.Is(err, unix.ENODEV) {
			continue // the CPU is offline
		}
		if err != nil {
			return events, err
		}
		events = append(events, event)
		if err := attachTo(event, prog); err != nil {
			return events, err
		}
	}
	return events, nil
}

// openEvent opens an event on a CPU, for all processes.
func openEvent(cpu int, attr unix.PerfEventAttr) (*os.File, error) {
	attr.Size = uint32(unsafe.Sizeof(attr))
	const allProcesses, noGroup = -1, -1
	fd, err := unix.PerfEventOpen(&attr, allProcesses, cpu, noGroup, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("open perf event on CPU %d: %w", cpu, err)
	}
	return os.NewFile(uintptr(fd), "perf-event"), nil
}

// attachTo runs prog each time the event fires, until the event is closed. It
// uses ioctls because BPF links to perf events came after Linux 5.10.
func attachTo(event *os.File, prog *ebpf.Program) error {
	fd := int(event.Fd())
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, prog.FD()); err != nil {
		return fmt.Errorf("attach program to perf event: %w", err)
	}
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
		return fmt.Errorf("enable perf event: %w", err)
	}
	return nil
}
