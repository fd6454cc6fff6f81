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
	}
	// The kernel runs the program on every CPU, whichever the event is for.
	fd, err := unix.PerfEventOpen(attr, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("open the event of tracepoint %s:%s: %w", group, name, explainPerfEvent(attr, err))
	}
	events := &Events{fds: []int{fd}}
	if err := errors.Join(attachByIoctl(fd, prog), events.Enable()); err != nil {
		return nil, errors.Join(fmt.Errorf("attach to tracepoint %s:%s: %w", group, name, err), events.Close())
	}
	return events, nil
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
