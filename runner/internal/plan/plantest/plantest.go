// Package plantest makes plans and jobs for tests.
package plantest

import (
	"testing"
	"testing/fstest"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/workload/packet"
	"github.com/org/ebpf-bench-action/programs"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// Of resolves a suite in the folder of the bundled objects.
func Of(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p, err := Try(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Try is Of for a suite that may be wrong.
func Try(text string) (*plan.Plan, error) {
	s, err := trySuite(text)
	if err != nil {
		return nil, err
	}
	return plan.New(s)
}

// Suite reads a suite in the folder of the bundled objects.
func Suite(t testing.TB, text string) *suite.Suite {
	t.Helper()
	s, err := trySuite(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func trySuite(text string) (*suite.Suite, error) {
	files := fstest.MapFS{"suite.yml": {Data: []byte(text)}}
	for _, name := range []string{"fun_xdp/fun_xdp_bpfel.o", "perf_profiler/perf_profiler_bpfel.o", "work/work_bpfel.o"} {
		data, err := programs.FS.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return suite.Load(files, "suite.yml")
}

// Objects is the start of a suite for the bundled objects.
const Objects = "version: 1\nobjects: [fun_xdp/fun_xdp_bpfel.o, perf_profiler/perf_profiler_bpfel.o]\nbenchmarks:\n"

// Job resolves a benchmark of a program that is in no object.
func Job(t testing.TB, p *ebpf.ProgramSpec, b bench.Benchmark) *plan.Job {
	t.Helper()
	j, err := TryJob(p, b)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TryJob is Job for a benchmark that may be wrong.
func TryJob(p *ebpf.ProgramSpec, b bench.Benchmark) (*plan.Job, error) {
	if p.Name == "" {
		p.Name = "program"
	}
	p.License = "GPL"
	p.Instructions[0] = p.Instructions[0].WithSymbol(p.Name)
	b.Program = p.Name
	if b.Name == "" {
		b.Name = p.Name
	}
	j := &plan.Job{Benchmark: &b, Spec: &ebpf.CollectionSpec{
		Maps:      map[string]*ebpf.MapSpec{},
		Programs:  map[string]*ebpf.ProgramSpec{p.Name: p},
		Variables: map[string]*ebpf.VariableSpec{},
	}}
	j.ChooseDriver()
	j.SetDefaults()
	if err := j.CheckDriver(); err != nil {
		return nil, err
	}
	var err error
	if j.Frames, err = packet.Expand(j.Packets(), nil); err != nil {
		return nil, err
	}
	if j.TestRun != nil {
		_, err = j.Inputs()
	}
	return j, err
}

// Returns returns a program that returns a number.
func Returns(n int32) asm.Instructions {
	return asm.Instructions{asm.Mov.Imm(asm.R0, n), asm.Return()}
}

// Loads returns a program that returns a word of its context.
func Loads(offset int16, size asm.Size) asm.Instructions {
	return asm.Instructions{asm.LoadMem(asm.R0, asm.R1, offset, size), asm.Return()}
}

// Made returns a benchmark of a program without an object.
func Made(t testing.TB, driver string, insns asm.Instructions) *plan.Job {
	t.Helper()
	p := Of(t, Objects+"  - {name: a, program: fun_xdp_basic, "+driver+"}\n")
	job := *p.Jobs[0]
	b := *job.Benchmark
	b.Program, job.Benchmark = "made", &b
	job.Spec = &ebpf.CollectionSpec{
		Maps:     map[string]*ebpf.MapSpec{},
		Programs: map[string]*ebpf.ProgramSpec{"made": {Name: "made", Type: ebpf.XDP, Instructions: insns, License: "GPL"}},
	}
	return &job
}
