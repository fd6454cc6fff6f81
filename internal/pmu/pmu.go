// Package pmu reads the hardware counters of a CPU: what it did, such as how
// many cycles, while a thread or a BPF program ran. Most virtual machines have
// no such counters.
package pmu

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Event is an event of a PMU, and the measure that counts it.
type Event struct {
	Measure bench.Measure
	// Type and Config are those of perf_event_open(2).
	Type   uint32
	Config uint64
}

// Hardware lists the events that every PMU should have.
var Hardware = []Event{
	{bench.Cycles, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
	{bench.RetiredInstructions, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
	{bench.CacheMisses, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES},
	{bench.TLBMisses, unix.PERF_TYPE_HW_CACHE, unix.PERF_COUNT_HW_CACHE_DTLB |
		unix.PERF_COUNT_HW_CACHE_OP_READ<<8 | unix.PERF_COUNT_HW_CACHE_RESULT_MISS<<16},
}

// Counters counts events in the kernel for the thread that opened it.
type Counters struct {
	events []Event
	fds    []int
}

// Open starts counting events for the calling thread, which should be locked.
// It skips events that the machine lacks; having none left is not an error. It
// requires CAP_PERFMON or root.
func Open(events []Event) (*Counters, error) {
	c := &Counters{}
	for _, e := range events {
		const self, anyCPU = 0, -1
		fd, err := open(e, self, anyCPU)
		switch {
		case err == nil:
			c.events, c.fds = append(c.events, e), append(c.fds, fd)
		case !isMissing(err):
			return nil, errors.Join(fmt.Errorf("count %s: %w", e.Measure.Name, err), c.Close())
		}
	}
	return c, nil
}

func open(e Event, thread, cpu int) (int, error) {
	attr := unix.PerfEventAttr{
		Type: e.Type, Config: e.Config,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitExcludeUser,
	}
	const noGroup = -1
	return unix.PerfEventOpen(&attr, thread, cpu, noGroup, unix.PERF_FLAG_FD_CLOEXEC)
}

// isMissing reports whether err is the kernel's for an event that no PMU has.
func isMissing(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENOSYS)
}

// Measures returns the measures of the events that are counted.
func (c *Counters) Measures() []bench.Measure { return measures(c.events) }

func measures(events []Event) (all []bench.Measure) {
	for _, e := range events {
		all = append(all, e.Measure)
	}
	return all
}

// Reading is the number of events up to a moment, and for how many nanoseconds
// they should have been counted and were: a PMU with few counters shares them.
type Reading struct{ Count, Enabled, Running uint64 }

// Read reads all counters, in the order of Measures.
func (c *Counters) Read() ([]Reading, error) {
	readings := make([]Reading, len(c.fds))
	for i, fd := range c.fds {
		var buf [readingSize]byte
		if _, err := unix.Read(fd, buf[:]); err != nil {
			return nil, fmt.Errorf("read %s: %w", c.events[i].Measure.Name, err)
		}
		readings[i] = reading(buf[:])
	}
	return readings, nil
}

// readingSize is the size of a reading as the kernel writes it.
const readingSize = 24

func reading(b []byte) Reading {
	return Reading{
		Count:   binary.NativeEndian.Uint64(b[0:]),
		Enabled: binary.NativeEndian.Uint64(b[8:]),
		Running: binary.NativeEndian.Uint64(b[16:]),
	}
}

// Since returns the number of events between two readings. It extrapolates if
// they were not counted all the time; ok is false if they were not counted at
// all.
func (r Reading) Since(before Reading) (n float64, ok bool) {
	running, enabled := r.Running-before.Running, r.Enabled-before.Enabled
	if running == 0 {
		return 0, false
	}
	return float64(r.Count-before.Count) * float64(enabled) / float64(running), true
}

// Close ends the counting.
func (c *Counters) Close() error {
	var errs []error
	for _, fd := range c.fds {
		errs = append(errs, unix.Close(fd))
	}
	c.events, c.fds = nil, nil
	return errors.Join(errs...)
}
