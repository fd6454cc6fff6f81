//go:build linux

package perfprofiler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/cilium/ebpf/rlimit"
)

// Profiler samples what runs on the CPUs.
type Profiler struct {
	objs    bpfObjects
	reader  *ringbuf.Reader
	records atomic.Uint64

	mu     sync.Mutex
	events []io.Closer
}

// Stats accounts for the samples taken: each was recorded or dropped.
type Stats struct {
	// Records is the number of records read.
	Records uint64
	// Dropped is the number of samples lost, nearly always because the ring
	// buffer was full.
	Dropped uint64
}

// New loads the program. It samples the process pid, as the initial PID
// namespace numbers it, or all processes if pid is 0. The caller closes the
// Profiler.
func New(pid uint32) (*Profiler, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, err
	}
	spec, err := loadBpf()
	if err != nil {
		return nil, err
	}
	if err := spec.Variables[bpfVarPID].Set(pid); err != nil {
		return nil, fmt.Errorf("set PID: %w", err)
	}
	return newProfiler(spec)
}

func newProfiler(spec *ebpf.CollectionSpec) (*Profiler, error) {
	p := new(Profiler)
	if err := spec.LoadAndAssign(&p.objs, nil); err != nil {
		return nil, fmt.Errorf("load program: %w", err)
	}
	var err error
	if p.reader, err = ringbuf.NewReader(p.objs.Events); err != nil {
		p.objs.Close()
		return nil, fmt.Errorf("open ring buffer: %w", err)
	}
	return p, nil
}

// Attach samples every CPU, frequency times in each second that it is busy.
func (p *Profiler) Attach(frequency uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	events, err := attachEverywhere(cpuClock(frequency), p.objs.Profile)
	p.events = append(p.events, events...)
	return err
}

// Run passes each record to handle until ctx is done. It then detaches the
// program and handles the records that are left, so that none is lost.
func (p *Profiler) Run(ctx context.Context, handle func(Record)) error {
	flushed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		flushed <- errors.Join(p.detach(), p.reader.Flush())
	})
	defer stop()

	var raw ringbuf.Record
	for {
		err := p.reader.ReadInto(&raw)
		if errors.Is(err, ringbuf.ErrFlushed) {
			return <-flushed
		}
		if err != nil {
			return fmt.Errorf("read ring buffer: %w", err)
		}
		record, err := decode(raw.RawSample)
		if err != nil {
			return err
		}
		p.records.Add(1)
		handle(record)
	}
}

// Stats returns the account so far. It balances once Run has returned.
func (p *Profiler) Stats() (Stats, error) {
	var perCPU []uint64
	if err := p.objs.Dropped.Lookup(uint32(0), &perCPU); err != nil {
		return Stats{}, fmt.Errorf("read dropped: %w", err)
	}
	stats := Stats{Records: p.records.Load()}
	for _, n := range perCPU {
		stats.Dropped += n
	}
	return stats, nil
}

// Close detaches the program and unloads it.
func (p *Profiler) Close() error {
	return errors.Join(p.detach(), p.reader.Close(), p.objs.Close())
}

func (p *Profiler) detach() error {
	p.mu.Lock()
	defer p.mu.Unlock()

	var err error
	for _, event := range p.events {
		err = errors.Join(err, event.Close())
	}
	p.events = nil
	return err
}
