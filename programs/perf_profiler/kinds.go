//go:build linux

package perfprofiler

import (
	"errors"
	"time"

	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

// Kind says what a sample stands for.
type Kind uint32

// The kinds of samples, as enum kind in events.c numbers them.
const (
	// CPU is a thread that runs.
	CPU Kind = iota
	// OffCPU is the end of the time that a thread did not run: it slept, or waited for a CPU.
	OffCPU
	// Disk is the end of a request to a disk, with the stack by which it was made.
	Disk
	// Fault is a page fault of a user address.
	Fault
)

// attach says how each kind is attached.
var attach = [...]func(*Tracer) error{
	CPU: (*Tracer).attachCPU, OffCPU: (*Tracer).attachOffCPU, Disk: (*Tracer).attachDisk, Fault: (*Tracer).attachFaults,
}

// attachCPU samples by the hardware's cycles, or where there are none, by the clock.
func (t *Tracer) attachCPU() error {
	clock := cpuClock(uint64(time.Second / t.options.Interval))
	cycles := clock
	cycles.Type, cycles.Config = unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES
	t.sources[CPU] = "cycles"
	err := t.event(eventsProgOnCpu, cycles)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) {
		t.sources[CPU] = "cpu-clock"
		err = t.event(eventsProgOnCpu, clock)
	}
	return err
}

func (t *Tracer) attachOffCPU() error {
	t.sources[OffCPU] = "sched_switch"
	return t.tracing(eventsProgOffCpu)
}

func (t *Tracer) attachDisk() error {
	t.sources[Disk] = "block_rq_complete"
	for _, name := range []string{eventsProgDiskComplete, eventsProgDiskIssue, eventsProgDiskInsert} {
		if err := t.tracing(name); err != nil {
			return err
		}
	}
	return nil
}

// queueFirst reports whether the tracepoints of requests have the queue as their first
// argument.
func queueFirst() (bool, error) {
	kernel, err := btf.LoadKernelSpec()
	if err != nil {
		return false, err
	}
	var issue *btf.Typedef
	if err := kernel.TypeByName("btf_trace_block_rq_issue", &issue); err != nil {
		return false, err
	}
	proto, ok := btf.UnderlyingType(issue.Type.(*btf.Pointer).Target).(*btf.FuncProto)
	const context, request, queue = 1, 1, 1
	return ok && len(proto.Params) == context+request+queue, nil
}

// attachFaults measures page faults from their start to their end, if the kernel lets a
// program be attached to its functions. Otherwise it takes the tracepoint, which knows the
// address, or the software event.
func (t *Tracer) attachFaults() error {
	attached := len(t.attached)
	var errs []error
	for _, from := range []struct {
		name   string
		attach func() error
	}{
		{"handle_mm_fault", func() error {
			for _, name := range []string{eventsProgFaultEnds, eventsProgFaultFromFile, eventsProgFaultStarts} {
				if err := t.tracing(name); err != nil {
					return err
				}
			}
			return nil
		}},
		{"page_fault_user", func() error { return t.tracing(eventsProgFault) }},
		{"page-faults", func() error {
			return t.event(eventsProgFaultEvent, unix.PerfEventAttr{
				Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_PAGE_FAULTS, Sample: 1,
				Bits: unix.PerfBitDisabled | unix.PerfBitExcludeKernel,
			})
		}},
	} {
		t.sources[Fault] = from.name
		err := from.attach()
		if err == nil {
			return nil
		}
		errs = append(errs, err)
		for _, c := range t.attached[attached:] {
			_ = c.Close() // it has sampled nothing yet
		}
		t.attached = t.attached[:attached]
	}
	return errors.Join(errs...)
}
