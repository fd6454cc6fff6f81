package perf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/kernelfs"
)

// Tracepoint is a tracepoint of the kernel that is kept in use, so that attaching a
// program need not wait until no CPU is in it anymore. While no program is attached, it
// costs next to nothing.
type Tracepoint struct {
	group, name string
	events      *Events
	detaching   sync.WaitGroup
}

// OpenTracepoint opens a tracepoint, until Close. Unless tracefs is mounted, it requires
// Linux 5.2.
func OpenTracepoint(group, name string) (*Tracepoint, error) {
	events, err := openTracepoint(group, name, unix.PerfBitDisabled)
	if err != nil {
		return nil, err
	}
	return &Tracepoint{group: group, name: name, events: events}, nil
}

// Attach attaches a program, for everything that happens on the machine, until the
// returned Closer is closed.
func (t *Tracepoint) Attach(prog *ebpf.Program) (io.Closer, error) {
	fail := func(err error) (io.Closer, error) {
		return nil, fmt.Errorf("attach to tracepoint %s:%s: %w", t.group, t.name, err)
	}
	info, err := prog.Info()
	if err != nil {
		return fail(err)
	}
	id, _ := info.ID()
	events, err := openTracepoint(t.group, t.name, 0)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(attachByIoctl(events.fds[0], prog), events.Enable()); err != nil {
		return fail(errors.Join(err, events.Close()))
	}
	return &traced{t, events, id}, nil
}

// Close waits until the kernel has detached every program.
func (t *Tracepoint) Close() error {
	t.detaching.Wait()
	return t.events.Close()
}

// traced is a program on a tracepoint.
type traced struct {
	on     *Tracepoint
	events *Events
	id     ebpf.ProgramID
}

// Close returns when no event runs the program anymore. The kernel itself returns some
// twenty milliseconds later, when no run of a program that may sleep is left, and no other
// program need wait for that.
func (a *traced) Close() error {
	closed := make(chan error, 1)
	a.on.detaching.Go(func() { closed <- a.events.Close() })
	for {
		select {
		case err := <-closed:
			return err
		case <-time.After(50 * time.Microsecond):
		}
		if runs, err := a.on.runs(a.id); err != nil {
			return <-closed
		} else if !runs {
			return nil
		}
	}
}

// maxOnTracepoint is how many programs a tracepoint takes (BPF_TRACE_MAX_PROGS).
const maxOnTracepoint = 64

// runs reports whether the tracepoint runs a program. It requires Linux 4.16.
func (t *Tracepoint) runs(id ebpf.ProgramID) (bool, error) {
	// struct perf_event_query_bpf
	query := struct {
		room, count uint32
		ids         [maxOnTracepoint]ebpf.ProgramID
	}{room: maxOnTracepoint}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(t.events.fds[0]), unix.PERF_EVENT_IOC_QUERY_BPF, uintptr(unsafe.Pointer(&query)))
	if errno != 0 {
		return false, errno
	}
	return slices.Contains(query.ids[:query.count], id), nil
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
