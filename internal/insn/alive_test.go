package insn

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// What no run can reach is not alive, whether or not a run reaches the rest.
func TestAlive(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	spec := xdp(map[string]asm.Instructions{"main": {
		asm.Mov.Imm(asm.R6, 0),
		asm.JEq.Imm(asm.R6, 1, "never"), // it is 0
		asm.LoadMem(asm.R2, asm.R1, 0, asm.Word),
		asm.LoadMem(asm.R3, asm.R1, 4, asm.Word),
		asm.Mov.Reg(asm.R4, asm.R2),
		asm.Add.Imm(asm.R4, 1),
		asm.JGT.Reg(asm.R4, asm.R3, "end"),
		asm.Mov.Imm(asm.R0, 1).WithSymbol("more"),
		asm.LoadMem(asm.R0, asm.R2, 0, asm.Byte),
		asm.Mov.Imm(asm.R0, 2).WithSymbol("end"),
		asm.Return(),
		asm.Mov.Imm(asm.R0, 7).WithSymbol("never"),
		asm.Return(),
	}})
	coll, table := instrumented(t, spec, Options{Alive: true})
	alive, err := table.Alive(coll)
	if err != nil {
		t.Fatal(err)
	}
	if want := []bool{true, true, true, true, false}; len(alive) != 1 || !slices.Equal(alive[0], want) {
		t.Errorf("got %v, want %v", alive, want)
	}
}

// A meter counts single runs, and tells those apart that differ.
func TestMeter(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	spec := xdp(map[string]asm.Instructions{"main": {
		asm.LoadMem(asm.R2, asm.R1, 0, asm.Word),
		asm.LoadMem(asm.R3, asm.R1, 4, asm.Word),
		asm.Mov.Reg(asm.R4, asm.R2),
		asm.Add.Imm(asm.R4, 1),
		asm.Mov.Imm(asm.R0, 2),
		asm.JGT.Reg(asm.R4, asm.R3, "end"),
		asm.LoadMem(asm.R5, asm.R2, 0, asm.Byte),
		asm.JEq.Imm(asm.R5, 0, "end"),
		asm.Mov.Imm(asm.R0, 1),
		asm.Return().WithSymbol("end"),
	}})
	coll, table := instrumented(t, spec, Options{})
	meter, err := table.Meter(coll)
	if err != nil {
		t.Fatal(err)
	}
	read := func(first byte) (digest, total uint64) {
		if err := meter.Reset(); err != nil {
			t.Fatal(err)
		}
		packet := make([]byte, 64)
		packet[0] = first
		run(t, coll.Programs["main"], packet)
		digest, err := meter.Read()
		if err != nil {
			t.Fatal(err)
		}
		return digest, meter.Counts().Total()
	}
	zero, few := read(0)
	one, more := read(1)
	again, two := read(2)
	if few != 9 || more != 10 || two != 10 || one != again || one == zero {
		t.Errorf("got %d, %d and %d instructions, with digests %x, %x and %x", few, more, two, zero, one, again)
	}
}
