package runner

import (
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/packet"
)

// resolved resolves a benchmark of a program that is in no object.
func resolved(t testing.TB, p *ebpf.ProgramSpec, b bench.Benchmark) *Job {
	t.Helper()
	j, err := tryJob(p, b)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func tryJob(p *ebpf.ProgramSpec, b bench.Benchmark) (*Job, error) {
	if p.Name == "" {
		p.Name = "program"
	}
	p.License = "GPL"
	p.Instructions[0] = p.Instructions[0].WithSymbol(p.Name)
	b.Program = p.Name
	if b.Name == "" {
		b.Name = p.Name
	}
	j := &Job{Benchmark: &b, Spec: &ebpf.CollectionSpec{
		Maps:      map[string]*ebpf.MapSpec{},
		Programs:  map[string]*ebpf.ProgramSpec{p.Name: p},
		Variables: map[string]*ebpf.VariableSpec{},
	}}
	j.chooseDriver("")
	j.setDefaults()
	if err := j.checkDriver(); err != nil {
		return nil, err
	}
	var err error
	if j.Frames, err = packet.Expand(j.packets(), nil); err != nil {
		return nil, err
	}
	if j.TestRun != nil {
		_, err = j.inputs()
	}
	return j, err
}

// returns is a program that returns a number.
func returns(n int32) asm.Instructions {
	return asm.Instructions{asm.Mov.Imm(asm.R0, n), asm.Return()}
}

// loads is a program that returns a word of its context.
func loads(offset int16, size asm.Size) asm.Instructions {
	return asm.Instructions{asm.LoadMem(asm.R0, asm.R1, offset, size), asm.Return()}
}
