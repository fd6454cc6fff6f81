package perf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/kernelfs"
)

// AttachTracepoint attaches a program to a tracepoint of the kernel, for
// everything that happens on the machine, until it is closed. Unless tracefs is
// mounted, it requires Linux 5.2.
func AttachTracepoint(prog *ebpf.Program, group, name string) (io.Closer, error) {
	events, err := openTracepoint(group, name, 0)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(attachByIoctl(events.fds[0], prog), events.Enable()); err != nil {
		return nil, errors.Join(fmt.Errorf("attach to tracepoint %s:%s: %w", group, name, err), events.Close())
	}
	return events, nil
}

// HoldTracepoint keeps a tracepoint in use until it is closed. While no program is
// attached, it costs next to nothing, and the next program is attached and
// detached in a third of the time: the kernel need not wait until no CPU is in the
// tracepoint anymore.
func HoldTracepoint(group, name string) (io.Closer, error) {
	events, err := openTracepoint(group, name, unix.PerfBitDisabled)
	if err != nil {
		return nil, err // and no nil pointer in an interface
	}
	return events, nil
}

func openTracepoint(group, name string, bits uint64) (*Events, error) {
	id, err := tracepointID(group, name)
	if err != nil {
		return nil, err
	}
	attr := &unix.PerfEventAttr{
		Type:        unix.PERF_TYPE_TRACEPOINT,
		Config:      id,
		Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Sample_type: unix.PERF_SAMPLE_RAW,
		Sample:      1,
		Wakeup:      1,
		Bits:        bits,
	}
	// The kernel runs the program on every CPU, whichever the event is for.
	fd, err := unix.PerfEventOpen(attr, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("open the event of tracepoint %s:%s: %w", group, name, explainPerfEvent(attr, err))
	}
	return &Events{fds: []int{fd}}, nil
}

func tracepointID(group, name string) (uint64, error) {
	text, err := kernelfs.ReadFile("tracefs", path.Join("events", group, name, "id"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("this kernel has no tracepoint %s:%s: %w", group, name, fs.ErrNotExist)
	case err != nil:
		return 0, fmt.Errorf("find tracepoint %s:%s: %w", group, name, err)
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

// Tracepoints returns the kernel's tracepoints, each as GROUP:NAME, or nil if
// they are unknown.
func Tracepoints() []string {
	text, err := kernelfs.ReadFile("tracefs", "available_events")
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// KernelFunctions returns the functions of the kernel that can be traced and
// whose names match a pattern of * and ?.
func KernelFunctions(pattern string) ([]string, error) {
	text, err := kernelfs.ReadFile("tracefs", "available_filter_functions")
	if err != nil {
		return nil, fmt.Errorf("list the kernel's functions: %w", err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		name, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		if ok, err := path.Match(pattern, name); err != nil {
			return nil, fmt.Errorf("pattern %s: %w", pattern, err)
		} else if ok && module == "" {
			names = append(names, name)
		}
	}
	return names, nil
}
