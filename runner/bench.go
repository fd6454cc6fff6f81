package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/internal/workload/vethpair"
	"github.com/org/ebpf-bench-action/programs/empty"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// BenchOption configures how Bench runs a program.
type BenchOption func(*benched)

// Frame runs the program on a packet that starts with its Ethernet header.
func Frame(data []byte) BenchOption { return func(b *benched) { b.input.Data = data } }

// Context runs the program on a context: a value of fixed size, such as a
// struct. It is for the program types that the kernel runs on one.
func Context(ctx any) BenchOption { return func(b *benched) { b.input.Context = ctx } }

// Counted makes Bench also count the BPF instructions that a run executes. It
// counts them in a copy of the program loaded from spec, with maps of its own,
// whose contents may differ from those of the timed program's maps.
func Counted(spec *ebpf.CollectionSpec, program string) BenchOption {
	return func(b *benched) { b.counted, b.spec, b.name = true, spec, program }
}

// benched is a program that is timed next to an empty one.
type benched struct {
	input          ebpf.RunOptions
	program, floor *ebpf.Program
	counted        bool
	spec           *ebpf.CollectionSpec
	name           string
}

// benchSlice is how many runs of the program to time before as many of the empty
// one.
const benchSlice = 128

// Bench measures the cost of a run of a loaded program with BPF_PROG_TEST_RUN
// and reports it as the benchmark's ns/op: the time on the kernel's own clock
// around each run, minus floor-ns/op, the cost of an empty program of the same
// type run in between. With Counted it also reports bpf-insns/op. Each run has a
// system call of its own, so that none depends on what another left of the packet
// or the context. The kernel's figure includes no system call, so ns/op is much less
// than the elapsed time of the benchmark.
//
// Bench calls Need. It requires Linux 5.1, or 5.8 to work without a sysctl.
func Bench(b *testing.B, program *ebpf.Program, options ...BenchOption) {
	b.Helper()
	Need(b)
	if program == nil {
		b.Fatal("no program: does the collection have one of that name?")
	}
	p := &benched{program: program}
	for _, option := range options {
		option(p)
	}
	if err := p.measure(b); err != nil {
		b.Fatal(err)
	}
}

// Need skips a test or benchmark that lacks the privileges to load and measure
// programs, and names the missing ones. If the variable CI is set, it fails
// instead, so that no skip goes unnoticed. It also lifts the limit on locked
// memory. Call it before loading anything.
func Need(tb testing.TB) {
	tb.Helper()
	missing, err := probe.Capabilities()
	switch {
	case err != nil:
		tb.Fatalf("read capabilities: %v", err)
	case len(missing) > 0 && os.Getenv("CI") != "":
		tb.Fatalf("it takes root's capabilities %s", strings.Join(missing, ", "))
	case len(missing) > 0:
		tb.Skipf("it takes root's capabilities %s", strings.Join(missing, ", "))
	}
	if err := rlimit.RemoveMemlock(); err != nil {
		tb.Fatalf("remove the limit of locked memory: %v", err)
	}
}

func (p *benched) measure(b *testing.B) (err error) {
	spec, err := empty.Like(&ebpf.ProgramSpec{Type: p.program.Type()})
	if err != nil {
		return err
	}
	if p.floor, err = ebpf.NewProgram(spec); err != nil {
		return fmt.Errorf("load an empty program of type %v: %w", p.program.Type(), err)
	}
	defer p.floor.Close()
	stats, err := driver.EnableStats()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stats.Close()) }()
	release, err := p.settle()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	for _, one := range []*ebpf.Program{p.program, p.floor} {
		if _, err := p.cost(one, 1); err != nil {
			return err
		}
	}
	var costs, floors []float64
	b.ResetTimer()
	for left := b.N; left > 0; left -= benchSlice {
		cost, err := p.cost(p.program, min(left, benchSlice))
		if err != nil {
			return err
		}
		floor, err := p.cost(p.floor, min(left, benchSlice))
		if err != nil {
			return err
		}
		costs, floors = append(costs, cost-floor), append(floors, floor)
	}
	b.StopTimer()
	b.ReportMetric(median(costs), "ns/op")
	b.ReportMetric(median(floors), "floor-ns/op")
	if !p.counted {
		return nil
	}
	insns, err := p.count()
	if err == nil {
		b.ReportMetric(insns, "bpf-insns/op")
	}
	return err
}

// settle keeps the calling thread on one CPU, and XDP programs in the kernel's
// dispatcher, until release is called.
func (p *benched) settle() (release func() error, err error) {
	runtime.LockOSThread()
	cpus, err := thread.Pin()
	if err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("stay on one CPU: %w", err)
	}
	var parking vethpair.Parking
	var held []io.Closer
	release = func() error {
		var errs []error
		for _, h := range held {
			errs = append(errs, h.Close())
		}
		var before unix.CPUSet
		for _, cpu := range cpus {
			before.Set(cpu)
		}
		errs = append(errs, parking.Close(), unix.SchedSetaffinity(0, &before))
		runtime.UnlockOSThread()
		return errors.Join(errs...)
	}
	if p.program.Type() == ebpf.XDP {
		for _, one := range []*ebpf.Program{p.program, p.floor} {
			// Without the dispatcher it still runs, only more slowly with each
			// call.
			if h, err := parking.Hold(one); err == nil {
				held = append(held, h)
			}
		}
	}
	return release, nil
}

// cost returns what the kernel charges per run of a program, in nanoseconds.
func (p *benched) cost(one *ebpf.Program, runs int) (ns float64, err error) {
	before, err := driver.ReadCounters(one)
	if err != nil {
		return 0, err
	}
	for range runs {
		in := p.input
		if _, err := one.Run(&in); err != nil {
			return 0, p.explain(one, err)
		}
	}
	after, err := driver.ReadCounters(one)
	if err != nil {
		return 0, err
	}
	charged := after.Since(before)
	if charged.RunCnt == 0 {
		return 0, errors.New("the kernel ran it without counting: is kernel.bpf_stats_enabled reset by something else?")
	}
	return float64(charged.RunTimeNS) / float64(charged.RunCnt), nil
}

// ethernetHeader is the length of the header that a packet begins with, in bytes.
const ethernetHeader = 14

// explain says why a program could not be run.
func (p *benched) explain(one *ebpf.Program, err error) error {
	switch {
	case errors.Is(err, ebpf.ErrNotSupported):
		err = fmt.Errorf("%w: a suite can attach it, with runner.Measure", err)
	case errors.Is(err, unix.EINVAL) && len(p.input.Data) < ethernetHeader:
		err = fmt.Errorf("%w: programs of packets take one of %d bytes or more: runner.Frame", err, ethernetHeader)
	}
	return fmt.Errorf("run a program of type %v: %w", one.Type(), err)
}

// count returns how many BPF instructions a run executes.
func (p *benched) count() (float64, error) {
	spec := p.spec.Copy()
	if spec == nil || spec.Programs[p.name] == nil {
		return 0, fmt.Errorf("count instructions: the spec has no program %q", p.name)
	}
	spec.Programs = map[string]*ebpf.ProgramSpec{p.name: spec.Programs[p.name]}
	for _, m := range spec.Maps {
		m.Pinning = ebpf.PinNone
	}
	table, err := insn.Instrument(spec, insn.Options{})
	if err != nil {
		return 0, fmt.Errorf("count instructions: %w", err)
	}
	coll, err := ebpf.NewCollection(spec)
	if err != nil {
		return 0, fmt.Errorf("load the program with counters: %w", err)
	}
	defer coll.Close()
	in := p.input
	if _, err := coll.Programs[p.name].Run(&in); err != nil {
		return 0, fmt.Errorf("run the program with counters: %w", err)
	}
	counts, err := table.Read(coll)
	if err != nil {
		return 0, err
	}
	return float64(counts.Total()) / float64(max(counts.Runs(p.name), 1)), nil
}

// median returns the median.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
