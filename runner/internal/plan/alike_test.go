package plan

import (
	"maps"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// work returns instructions whose operations are those of steps, in that order.
func work(steps ...asm.ALUOp) asm.Instructions {
	var insns asm.Instructions
	for _, op := range steps {
		insns = append(insns, op.Imm(asm.R0, 1))
	}
	return append(insns, asm.Return())
}

// repeated returns what n times.
func repeated(n int, what ...asm.ALUOp) []asm.ALUOp {
	var all []asm.ALUOp
	for range n {
		all = append(all, what...)
	}
	return all
}

func jobOf(benchmark, program string, kind ebpf.ProgramType, insns asm.Instructions) *Job {
	return &Job{
		Benchmark: &bench.Benchmark{Name: benchmark, Program: program},
		Object:    suite.Object{Path: "a.o"},
		Spec:      &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{program: {Type: kind, Instructions: insns}}},
	}
}

func TestAlike(t *testing.T) {
	filter := work(repeated(5, asm.Add, asm.Sub, asm.Mul)...)
	slower := work(append(repeated(5, asm.Add, asm.Sub, asm.Mul), asm.Xor, asm.Xor, asm.LSh)...)
	other := work(repeated(5, asm.Or, asm.RSh, asm.And)...)
	short := work(asm.Add)
	base := func(benchmark, program string, insns asm.Instructions) PairJob {
		return PairJob{Base: jobOf(benchmark, program, ebpf.XDP, insns)}
	}
	head := func(benchmark, program string, insns asm.Instructions) PairJob {
		return PairJob{Head: jobOf(benchmark, program, ebpf.XDP, insns)}
	}
	on := func(section string, p PairJob) PairJob {
		for _, j := range []*Job{p.Base, p.Head} {
			if j != nil {
				j.ProgramSpec().SectionName = section
			}
		}
		return p
	}
	for name, c := range map[string]struct {
		pairs []PairJob
		want  map[string]string
	}{
		"renamed and slower": {
			[]PairJob{head("ingress", "ingress", slower), head("new", "new", other), base("filter", "filter", filter)},
			map[string]string{"ingress": "filter"},
		},
		"the best of two": {
			[]PairJob{head("a", "a", filter), head("b", "b", slower), base("filter", "filter", filter)},
			map[string]string{"a": "filter"},
		},
		"two are as alike": {
			[]PairJob{head("a", "a", slower), head("b", "b", slower), base("filter", "filter", filter)},
			nil,
		},
		"another program":   {[]PairJob{head("a", "a", other), base("filter", "filter", filter)}, nil},
		"too short to tell": {[]PairJob{head("a", "a", short), base("b", "b", short)}, nil},
		"another type": {
			[]PairJob{{Head: jobOf("a", "filter", ebpf.SchedCLS, filter)}, base("filter", "filter", filter)},
			nil,
		},
		"only the benchmark was renamed": {
			[]PairJob{head("fw/small", "filter", other), base("fw/64B", "filter", filter), base("same", "same", other)},
			map[string]string{"fw/small": "fw/64B"},
		},
		"several benchmarks of a program": {
			[]PairJob{head("in/1", "in", slower), head("in/2", "in", slower), base("fw/1", "fw", filter), base("fw/2", "fw", filter), base("fw/3", "fw", filter)},
			map[string]string{"in/1": "fw/1", "in/2": "fw/2"},
		},
		"twins on their hooks": {
			[]PairJob{
				on("tc/ingress", head("in", "in", slower)), on("tc/egress", head("out", "out", slower)),
				on("tc/egress", base("e", "e", filter)), on("tc/ingress", base("i", "i", filter)),
			},
			map[string]string{"in": "i", "out": "e"},
		},
		"both sides have it": {
			[]PairJob{{Base: jobOf("filter", "filter", ebpf.XDP, filter), Head: jobOf("filter", "filter", ebpf.XDP, filter)}, head("copy", "copy", filter)},
			nil,
		},
	} {
		if got := Alike(c.pairs); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
