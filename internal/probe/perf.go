package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// cpuClock samples the CPU time of a thread every millisecond.
var cpuClock = unix.PerfEventAttr{
	Type:   unix.PERF_TYPE_SOFTWARE,
	Config: unix.PERF_COUNT_SW_CPU_CLOCK,
	Sample: 1_000_000,
}

// cycles counts the cycles of a thread, and for how long they were counted.
var cycles = unix.PerfEventAttr{
	Type:        unix.PERF_TYPE_HARDWARE,
	Config:      unix.PERF_COUNT_HW_CPU_CYCLES,
	Read_format: unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
}

func haveCPUClock() error {
	return withPerfEvent(cpuClock, func(fd int, prog *ebpf.Program) error {
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, prog.FD()); err != nil {
			return lackingIf(fmt.Errorf("attach to cpu-clock: %w", err), unix.EOPNOTSUPP)
		}
		return nil
	})
}

func havePerfEventLink() error {
	return withPerfEvent(cpuClock, func(fd int, prog *ebpf.Program) error {
		l, err := link.AttachRawLink(link.RawLinkOptions{
			Target:  fd,
			Program: prog,
			Attach:  ebpf.AttachPerfEvent,
		})
		if err != nil {
			return lackingIf(err, unix.EINVAL)
		}
		return l.Close()
	})
}

func withPerfEvent(attr unix.PerfEventAttr, fn func(fd int, prog *ebpf.Program) error) error {
	fd, err := openPerfEvent(attr)
	if err != nil {
		return err
	}
	defer unix.Close(fd)

	prog, err := load(ebpf.ProgramSpec{Type: ebpf.PerfEvent})
	if err != nil {
		return err
	}
	defer prog.Close()
	return fn(fd, prog)
}

// openPerfEvent opens an event of the calling thread.
func openPerfEvent(attr unix.PerfEventAttr) (int, error) {
	const self, anyCPU, noGroup = 0, -1, -1
	fd, err := unix.PerfEventOpen(&attr, self, anyCPU, noGroup, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		if errors.Is(err, unix.ENOENT) {
			return -1, lacking("no PMU has this event: %w", err)
		}
		return -1, lackingIf(fmt.Errorf("open perf event: %w", err), unix.ENODEV, unix.EOPNOTSUPP, unix.ENOSYS)
	}
	return fd, nil
}

// haveCycles reads the counter, because some hypervisors offer one that never
// counts.
func haveCycles() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	fd, err := openPerfEvent(cycles)
	if err != nil {
		return err
	}
	defer unix.Close(fd)

	var buf [16]byte
	if _, err := unix.Read(fd, buf[:]); err != nil {
		return fmt.Errorf("read perf event: %w", err)
	}
	count := binary.NativeEndian.Uint64(buf[:8])
	running := binary.NativeEndian.Uint64(buf[8:])
	switch {
	case running == 0:
		return errors.New("other events hold all hardware counters")
	case count == 0:
		return lacking("the hardware counter does not count")
	}
	return nil
}
