package insn

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

func TestTailCalls(t *testing.T) {
	call := asm.Instructions{
		asm.LoadMapPtr(asm.R2, 0).WithReference("jumps"), asm.Mov.Imm(asm.R3, 2), asm.FnTailCall.Call(),
	}
	jumps := &ebpf.MapSpec{Name: "jumps", Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: 4}
	pass := asm.Instructions{asm.Mov.Imm(asm.R0, 2), asm.Return()}
	into := slices.Clone(pass)
	into[0] = into[0].WithSymbol("out")
	for _, c := range []struct {
		name   string
		insns  asm.Instructions
		counts []uint64
		want   []TailCall
	}{
		{"one of five", join(call, pass), []uint64{5, 1}, []TailCall{{Index: 2, Times: 5, Failed: 1, Told: true, Map: "jumps", Key: 2}}},
		{"none", join(call, pass), []uint64{5, 0}, []TailCall{{Index: 2, Times: 5, Told: true, Map: "jumps", Key: 2}}},
		{"not made", join(call, pass), []uint64{0, 0}, nil},
		{"who knows: a jump leads there too", join(asm.Instructions{asm.JEq.Imm(asm.R1, 0, "out")}, call, into), []uint64{5, 4, 5}, []TailCall{{Index: 3, Times: 4, Map: "jumps", Key: 2}}},
		{"of a key that is computed", join(asm.Instructions{call[0], asm.Mov.Reg(asm.R3, asm.R7), call[2]}, pass), []uint64{1, 1}, []TailCall{{Index: 2, Times: 1, Failed: 1, Told: true, Map: "jumps", Key: -1}}},
	} {
		table, err := Instrument(xdp(map[string]asm.Instructions{"main": c.insns}, jumps), Options{})
		if err != nil {
			t.Fatal(err)
		}
		counts := newCounts(table)
		copy(counts.blocks[0], c.counts)
		if got := counts.TailCalls("main"); !slices.Equal(got, c.want) || !table.TailCalls() {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
