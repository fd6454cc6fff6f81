package count

import (
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
)

// Runs of the same input are sorted by how they end and what they execute, unless
// they are of too many kinds.
func TestKindsOfRuns(t *testing.T) {
	testenv.Root(t)
	const always = 9
	var spread asm.Instructions
	for range 40 {
		spread = append(spread, asm.FnGetPrandomU32.Call(), asm.JSet.Imm(asm.R0, 1, "out"))
	}
	spread = append(spread, asm.Mov.Imm(asm.R0, 2).WithSymbol("out"), asm.Return())
	ends := append(counting(2, 1)[:7:7],
		asm.Mov.Imm(asm.R0, 2), asm.Return(),
		asm.Mov.Imm(asm.R0, 1).WithSymbol("out"), asm.Mov.Imm(asm.R0, 1), asm.Return())
	for name, c := range map[string]struct {
		program asm.Instructions
		want    []bench.Kind
	}{
		"alike":                     {plantest.Returns(2), nil},
		"each 20th":                 {counting(20, 400), []bench.Kind{{Retval: 2, BPFInsns: always}, {Retval: 2, BPFInsns: always + 400}}},
		"each other ends otherwise": {ends, []bench.Kind{{Retval: 1, BPFInsns: 10}, {Retval: 2, BPFInsns: 9}}},
		"by chance":                 {spread, nil},
	} {
		job := plantest.Made(t, "test_run: {packets: [{ipv4: {}, udp: {}}]}", c.program)
		job.Spec.Maps["state"] = &ebpf.MapSpec{Name: "state", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}
		e, err := Count(t.Context(), job, nil, Like{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var runs uint64
		got := e.Kinds()
		for i, k := range got {
			runs += k.Runs
			if i < len(c.want) {
				c.want[i].Runs = k.Runs
			}
		}
		if len(got) != len(c.want) || len(got) > 0 && (got[0] != c.want[0] || got[1] != c.want[1] || runs != sortedRuns) {
			t.Errorf("%s: %+v in %d runs, want %+v", name, got, runs, c.want)
		}
	}
}
