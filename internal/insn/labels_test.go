package insn

import (
	"errors"
	"slices"
	"testing"

	"github.com/cilium/ebpf/asm"
)

// jump returns a jump by a distance in slots, as a compiler emits it.
func jump(distance int16) asm.Instruction {
	ins := asm.Ja.Label("")
	ins.Metadata = asm.Metadata{}
	ins.Offset = distance
	return ins
}

// ifZero returns a jump by a distance if r is 0.
func ifZero(r asm.Register, distance int16) asm.Instruction {
	ins := asm.JEq.Imm(r, 0, "")
	ins.Metadata = asm.Metadata{}
	ins.Offset = distance
	return ins
}

func TestLabels(t *testing.T) {
	insns := asm.Instructions{
		asm.Mov.Imm(asm.R0, 0),            // 0
		ifZero(asm.R1, 3),                 // 1: over 2 and 3, three slots, to 4
		asm.LoadImm(asm.R2, 1, asm.DWord), // 2
		asm.Mov.Imm(asm.R0, 1),            // 3
		jump(-2),                          // 4: to 3
		asm.Return().WithSymbol("end"),    // 5
		asm.Ja.Label("end"),               // 6
	}
	labelled, targets, err := label(insns)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{none, 4, none, none, 3, none, 5}; !slices.Equal(targets, want) {
		t.Errorf("targets are %v, want %v", targets, want)
	}
	for i, target := range targets {
		if target != none && labelled[i].Reference() != labelled[target].Symbol() {
			t.Errorf("instruction %d refers to %q, its target is %q", i, labelled[i].Reference(), labelled[target].Symbol())
		}
	}
	if insns[4].Symbol() != "" || insns[4].Offset != -2 {
		t.Error("the original instructions were changed")
	}
}

func TestJumpsThatLeadNowhere(t *testing.T) {
	for name, insns := range map[string]asm.Instructions{
		"beyond the end":                  {jump(5), asm.Return()},
		"before the start":                {jump(-3), asm.Return()},
		"into a 64-bit load":              {jump(1), asm.LoadImm(asm.R0, 0, asm.DWord), asm.Return()},
		"to a symbol that does not exist": {asm.Ja.Label("gone"), asm.Return()},
		"twice the same symbol":           {asm.Mov.Imm(asm.R0, 0).WithSymbol("a"), asm.Return().WithSymbol("a")},
	} {
		if _, _, err := label(insns); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestIndirectJumpsAreRefusedByName(t *testing.T) {
	gotox := asm.Instruction{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Ja).SetSource(asm.RegSource), Dst: asm.R1}
	_, _, err := label(asm.Instructions{gotox, asm.Return()})
	if !errors.Is(err, ErrIndirectJump) {
		t.Errorf("error is %v, want %v", err, ErrIndirectJump)
	}
}
