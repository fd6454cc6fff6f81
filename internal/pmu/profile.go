package pmu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Profile counts events of the runs of one program, on all CPUs, whoever
// triggers them. Reading the counters before and after each run takes part of
// the time that the kernel charges to the program: never time a program while
// it is profiled.
type Profile struct {
	events []Event
	coll   *ebpf.Collection
	links  []link.Link
	fds    []int
}

// Attach starts counting events in runs of a loaded program, except events that
// the machine lacks. function is the program's name in its BTF. It requires
// Linux 5.5.
func Attach(events []Event, program *ebpf.Program, function string) (p *Profile, err error) {
	if function == "" {
		return nil, errNoBTF
	}
	p = &Profile{}
	defer func() {
		if err != nil {
			_ = p.Close()
			p = nil
		}
	}()
	var onCPUs [][]cpuEvent
	for _, e := range events {
		fds, err := p.open(e)
		if err != nil {
			return p, fmt.Errorf("count %s: %w", e.Measure.Name, err)
		}
		if len(fds) > 0 {
			p.events, onCPUs = append(p.events, e), append(onCPUs, fds)
		}
	}
	if len(p.events) == 0 {
		return p, nil
	}
	if p.coll, err = ebpf.NewCollection(profilePrograms(len(p.events), program, function)); err != nil {
		return p, explain(err)
	}
	for i, fds := range onCPUs {
		for _, e := range fds {
			if err := p.coll.Maps[eventsMap(i)].Put(uint32(e.cpu), uint32(e.fd)); err != nil {
				return p, fmt.Errorf("hand over %s of CPU %d: %w", p.events[i].Measure.Name, e.cpu, err)
			}
		}
	}
	for _, tracer := range p.coll.Programs {
		l, err := link.AttachTracing(link.TracingOptions{Program: tracer})
		if err != nil {
			return p, fmt.Errorf("attach to the program: %w", err)
		}
		p.links = append(p.links, l)
	}
	return p, nil
}

var errNoBTF = errors.New("it has no BTF, which clang makes with -g")

// explain says why a program cannot be traced.
func explain(err error) error {
	switch {
	case errors.Is(err, ebpf.ErrNotSupported):
		return errNoBTF
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("this kernel lets no program trace another: %w", unix.EPERM)
	case strings.Contains(err.Error(), "Cannot recursively attach"):
		return errors.New("this kernel, unlike Linux 6.12, lets no tracing program be traced itself")
	}
	return err
}

// cpuEvent counts an event on a CPU.
type cpuEvent struct{ cpu, fd int }

// open opens an event on all online CPUs that have it.
func (p *Profile) open(e Event) (all []cpuEvent, err error) {
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return nil, err
	}
	for cpu := range cpus {
		const anyThread = -1
		fd, err := open(e, anyThread, cpu)
		switch {
		case err == nil:
			p.fds = append(p.fds, fd)
			all = append(all, cpuEvent{cpu, fd})
		case !isMissing(err):
			return nil, err
		}
	}
	return all, nil
}

// Measures returns the measures of the events that are counted.
func (p *Profile) Measures() []bench.Measure { return measures(p.events) }

// Read returns the number of profiled runs, and the readings of their events,
// in the order of Measures.
func (p *Profile) Read() (runs uint64, sums []Reading, err error) {
	sums = make([]Reading, len(p.events))
	if len(p.events) == 0 {
		return 0, sums, nil
	}
	var cpus [][]byte
	if err := p.coll.Maps[runsMap].Lookup(uint32(0), &cpus); err != nil {
		return 0, nil, fmt.Errorf("read what was counted: %w", err)
	}
	for _, value := range cpus {
		runs += binary.NativeEndian.Uint64(value[runsSeen:])
		for i := range sums {
			sum := reading(value[readings+readingSize*(len(sums)+i):])
			sums[i].Count += sum.Count
			sums[i].Enabled += sum.Enabled
			sums[i].Running += sum.Running
		}
	}
	return runs, sums, nil
}

// Close ends the counting.
func (p *Profile) Close() error {
	var errs []error
	for _, l := range p.links {
		errs = append(errs, l.Close())
	}
	if p.coll != nil {
		p.coll.Close()
	}
	for _, fd := range p.fds {
		errs = append(errs, unix.Close(fd))
	}
	*p = Profile{}
	return errors.Join(errs...)
}
