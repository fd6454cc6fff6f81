//go:build linux

package perfprofiler

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

// TraceOptions say what a Tracer samples.
type TraceOptions struct {
	// Kinds are the kinds of samples.
	Kinds []Kind
	// All samples every process, and not just those of Add.
	All bool
	// Interval is the time between two samples of a thread that runs. Sleeps of at least
	// this time have a sample each; of shorter ones, about one in each interval has.
	Interval time.Duration
	// Copies has each sample bring a copy of the thread's registers and stack. It takes
	// Linux 5.15 on amd64.
	Copies bool
}

// ErrNoCopies means that this kernel or machine cannot copy the registers of a thread.
var ErrNoCopies = errors.New("the kernel's programs cannot read the registers of user space here")

// Tracer samples what the threads of processes, and of those that they fork, do with their
// time. OffCPU and Fault take a kernel with BTF, and Linux 5.10.
type Tracer struct {
	options TraceOptions
	size    uint32 // of the buffer
	maps    map[string]*ebpf.Map
	reader  *ringbuf.Reader
	// closers end what is attached, and unload it.
	attached, loaded []io.Closer
	sources          map[Kind]string
}

// NewTracer loads the programs, but attaches none. The caller closes the Tracer.
func NewTracer(o TraceOptions) (*Tracer, error) {
	if o.Copies {
		return newTracer(o, 64<<20)
	}
	return newTracer(o, 16<<20)
}

// newTracer loads the programs with a buffer of a size in bytes.
func newTracer(o TraceOptions, size uint32) (*Tracer, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, err
	}
	if o.Copies {
		if err := canCopy(); err != nil {
			return nil, err
		}
	}
	t := &Tracer{options: o, size: size, maps: map[string]*ebpf.Map{}, sources: map[Kind]string{}}
	if err := t.load(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func canCopy() error {
	if runtime.GOARCH != "amd64" {
		return ErrNoCopies
	}
	err := features.HaveProgramHelper(ebpf.PerfEvent, asm.FnTaskPtRegs)
	if errors.Is(err, ebpf.ErrNotSupported) {
		return ErrNoCopies
	}
	return err
}

// Attach starts sampling.
func (t *Tracer) Attach() error {
	err := t.follow()
	for _, kind := range t.options.Kinds {
		if err == nil {
			err = attach[kind](t)
		}
	}
	return err
}

// Add samples a process, by its number in the initial PID namespace, with all its threads
// and what it forks from now on.
func (t *Tracer) Add(pid uint32) error {
	if err := t.maps[eventsMapProcesses].Put(pid, uint8(1)); err != nil {
		return fmt.Errorf("sample process %d: %w", pid, err)
	}
	return nil
}

// Sources returns where the samples of each kind come from, such as cpu-clock. Of kinds
// that the kernel forbids in part, it is the best that works.
func (t *Tracer) Sources() map[Kind]string { return t.sources }

// Run passes each sample to handle until ctx is done. It then detaches the programs and
// passes on what is left: samples in the buffer, and the sleeps of the threads that still
// sleep. Samples of different CPUs come nearly in order.
func (t *Tracer) Run(ctx context.Context, handle func(Sample)) error {
	flushed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		flushed <- errors.Join(t.detach(), t.reader.Flush())
	})
	defer stop()

	// A sample wakes nobody up unless the buffer gets full.
	const patience = 100 * time.Millisecond
	t.reader.SetDeadline(time.Now().Add(patience))
	var raw ringbuf.Record
	for {
		err := t.reader.ReadInto(&raw)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.reader.SetDeadline(time.Now().Add(patience))
			continue
		}
		if errors.Is(err, ringbuf.ErrFlushed) {
			return errors.Join(<-flushed, t.endSleeps(handle))
		}
		if err != nil {
			return fmt.Errorf("read ring buffer: %w", err)
		}
		s, err := decodeSample(raw.RawSample, t.options.Copies)
		if err != nil {
			return err
		}
		handle(s)
	}
}

// endSleeps passes on the sleeps that have not ended.
func (t *Tracer) endSleeps(handle func(Sample)) error {
	now := Now()
	var tid uint32
	var raw []byte
	entries := t.maps[eventsMapSleepers].Iterate()
	for entries.Next(&tid, &raw) {
		// struct sleeper
		since, carry := binary.NativeEndian.Uint64(raw), binary.NativeEndian.Uint64(raw[8:])
		if since == 0 || since > now {
			continue
		}
		s, err := decodeSample(raw[24:], t.options.Copies)
		if err != nil {
			return err
		}
		s.Time, s.NS = now, now-since
		if s.NS < uint64(t.options.Interval) {
			s.NS += carry
		}
		handle(s)
	}
	if err := entries.Err(); err != nil {
		return fmt.Errorf("read sleeping threads: %w", err)
	}
	return nil
}

// Lost returns how many samples of each kind left no record, nearly always because the
// ring buffer was full.
func (t *Tracer) Lost() (map[Kind]uint64, error) {
	lost := map[Kind]uint64{}
	for _, kind := range t.options.Kinds {
		var perCPU []uint64
		if err := t.maps[eventsMapLost].Lookup(uint32(kind), &perCPU); err != nil {
			return nil, fmt.Errorf("read lost samples: %w", err)
		}
		for _, n := range perCPU {
			lost[kind] += n
		}
	}
	return lost, nil
}

// Close detaches the programs and unloads them.
func (t *Tracer) Close() error {
	err := t.detach()
	if t.reader != nil {
		err = errors.Join(err, t.reader.Close())
	}
	for _, c := range t.loaded {
		err = errors.Join(err, c.Close())
	}
	t.loaded = nil
	return err
}

// detach detaches the programs, first those that follow processes: a thread that ends when
// nobody sees it wake up any more would take its sleep with it.
func (t *Tracer) detach() (err error) {
	for _, c := range t.attached {
		err = errors.Join(err, c.Close())
	}
	t.attached = nil
	return err
}

// load makes the maps. Programs are loaded when they are attached, for another may stand in
// for one that the kernel refuses.
func (t *Tracer) load() error {
	spec, err := t.spec()
	if err != nil {
		return err
	}
	clear(spec.Programs)
	c, err := ebpf.NewCollection(spec)
	if err != nil {
		return fmt.Errorf("make the maps of the profiler: %w", err)
	}
	t.loaded = append(t.loaded, collection{c})
	t.maps = c.Maps
	if t.reader, err = ringbuf.NewReader(t.maps[eventsMapSamples]); err != nil {
		return fmt.Errorf("open ring buffer: %w", err)
	}
	return nil
}

func (t *Tracer) spec() (*ebpf.CollectionSpec, error) {
	load := loadEvents
	if t.options.Copies {
		load = loadCopies // the names in it are the same
	}
	spec, err := load()
	if err != nil {
		return nil, err
	}
	if slices.Contains(t.options.Kinds, Disk) {
		first, err := queueFirst()
		if err != nil {
			return nil, fmt.Errorf("the kernel's type of tracepoint block_rq_issue: %w", err)
		}
		if err := spec.Variables[eventsVarQUEUE_FIRST].Set(first); err != nil {
			return nil, err
		}
	}
	spec.Maps[eventsMapSamples].MaxEntries = t.size
	return spec, errors.Join(
		spec.Variables[eventsVarALL].Set(t.options.All),
		spec.Variables[eventsVarINTERVAL].Set(uint64(t.options.Interval)))
}

// program loads a program.
func (t *Tracer) program(name string) (*ebpf.Program, error) {
	spec, err := t.spec()
	if err != nil {
		return nil, err
	}
	only := spec.Programs[name]
	clear(spec.Programs)
	spec.Programs[name] = only
	replaced := map[string]*ebpf.Map{}
	for name, m := range t.maps {
		if !strings.HasPrefix(name, ".") { // not the constants
			replaced[name] = m
		}
	}
	c, err := ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{MapReplacements: replaced})
	if err != nil {
		return nil, fmt.Errorf("load the profiler's program %s: %w", name, err)
	}
	t.loaded = append(t.loaded, collection{c})
	return c.Programs[name], nil
}

// tracing attaches a program to a function of the kernel, or to one of its tracepoints by
// BTF.
func (t *Tracer) tracing(name string) error {
	p, err := t.program(name)
	if err != nil {
		return err
	}
	l, err := link.AttachTracing(link.TracingOptions{Program: p})
	if err != nil {
		return fmt.Errorf("attach the profiler's program %s: %w", name, err)
	}
	t.attached = append(t.attached, l)
	return nil
}

// event attaches a program to a perf event on every CPU.
func (t *Tracer) event(name string, attr unix.PerfEventAttr) error {
	p, err := t.program(name)
	if err != nil {
		return err
	}
	events, err := attachEverywhere(attr, p)
	t.attached = append(t.attached, events...)
	return err
}

// follow adds what a process forks, and forgets what ends.
func (t *Tracer) follow() error {
	return errors.Join(t.tracing(eventsProgForked), t.tracing(eventsProgExited))
}

// collection is what was loaded, as an io.Closer.
type collection struct{ *ebpf.Collection }

func (c collection) Close() error { c.Collection.Close(); return nil }

// Now returns the time of the samples: that of CLOCK_MONOTONIC in nanoseconds, as
// bpf_ktime_get_ns.
func Now() uint64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // every kernel has this clock
	return uint64(now.Nano())
}
