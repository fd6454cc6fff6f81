package insn

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

func TestJumpsThatBecomeTooLong(t *testing.T) {
	insns := asm.Instructions{nothing, asm.JEq.Imm(asm.R0, 1, "end")}
	for range 10_000 {
		insns = append(insns, ifZero(asm.R0, 1), nothing, nothing)
	}
	insns = append(insns, asm.Return().WithSymbol("end"))
	spec := xdp(map[string]asm.Instructions{"main": insns, "other": {nothing, exit}})
	_, err := Instrument(spec, Options{Placement: EveryBlock})
	if !errors.Is(err, ErrJumpRange) || !strings.Contains(err.Error(), "program main: instruction 1:") {
		t.Errorf("error is %v, want %v of program and instruction", err, ErrJumpRange)
	}
	if len(spec.Maps) > 0 || len(spec.Programs["other"].Instructions) != 2 {
		t.Error("the spec was changed")
	}
}

func TestNoRoomOnTheStack(t *testing.T) {
	insns := crowded().spec.Programs["main"].Instructions
	insns[0].Offset = -512
	spec := xdp(map[string]asm.Instructions{"main": insns})
	if _, err := Instrument(spec, Options{Placement: EveryBlock}); !errors.Is(err, ErrStack) {
		t.Errorf("error is %v, want %v", err, ErrStack)
	}
}

func TestASpecIsInstrumentedOnce(t *testing.T) {
	spec := xdp(map[string]asm.Instructions{"main": {nothing, exit}})
	if _, err := Instrument(spec, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Instrument(spec, Options{}); err == nil {
		t.Error("no error the second time")
	}
}

// An instruction keeps its metadata, except that what makes it the start of a
// function moves to the instruction before it.
func TestMetadataSurvives(t *testing.T) {
	type key struct{}
	line := asm.Comment("a line")
	first := function("main", btf.GlobalFunc, 1, asm.Mov.Imm(asm.R0, 1).WithSource(line))
	first.Metadata.Set(key{}, "relocation")
	spec := xdp(map[string]asm.Instructions{"main": {first, ifZero(asm.R0, -2), exit}})
	if _, err := Instrument(spec, Options{}); err != nil {
		t.Fatal(err)
	}
	insns := spec.Programs["main"].Instructions
	if insns.Name() != "main" || btf.FuncMetadata(&insns[0]) == nil || insns[0].Source() != line {
		t.Error("the first instruction is not the start of the function with its line")
	}
	i := slices.IndexFunc(insns, func(ins asm.Instruction) bool { return ins.Metadata.Get(key{}) != nil })
	if i < 1 || insns[i].OpCode != first.OpCode || insns[i].Symbol() != "" || btf.FuncMetadata(&insns[i]) != nil || insns[i].Source() != line {
		t.Errorf("the original instruction, at %d, lost its metadata or kept what it must not", i)
	}
}

// tableOf returns the table of a program, without a kernel, with every block
// counted.
func tableOf(t *testing.T, insns asm.Instructions) *Table {
	t.Helper()
	table, err := Instrument(xdp(map[string]asm.Instructions{"main": insns}), Options{Placement: EveryBlock})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func countsOf(table *Table, raw ...uint64) *Counts {
	c := newCounts(table)
	table.Programs[0].resolve(raw, c.blocks[0])
	return c
}

func TestCounts(t *testing.T) {
	table := tableOf(t, asm.Instructions{ifZero(asm.R1, 3), nothing, asm.LoadImm(asm.R0, 0, asm.DWord), exit})
	a, b := countsOf(table, 5, 3, 5), countsOf(table, 2, 1, 2)
	d := a.Sub(b)
	if d.Executed("main") != 3+2*2+3 || d.Total() != 10 || d.Runs("main") != 3 {
		t.Errorf("executed %d, total %d, runs %d", d.Executed("main"), d.Total(), d.Runs("main"))
	}
	if got, want := d.Instructions("main"), []uint64{3, 2, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("instructions were executed %v times, want %v", got, want)
	}
	if !d.Add(b).Equal(a) || d.Equal(a) {
		t.Error("sums or comparisons are wrong")
	}
	if d.Executed("gone") != 0 || d.Runs("gone") != 0 || d.Instructions("gone") != nil {
		t.Error("a program that is not there has counts")
	}
}

func TestProgramsWithoutATypeStay(t *testing.T) {
	spec := xdp(map[string]asm.Instructions{"main": {nothing, exit}})
	spec.Programs["main"].Type = ebpf.UnspecifiedProgram
	table, err := Instrument(spec, Options{})
	if err != nil || len(table.Programs) != 0 || len(spec.Programs["main"].Instructions) != 2 {
		t.Errorf("table has %d programs (%v)", len(table.Programs), err)
	}
}
