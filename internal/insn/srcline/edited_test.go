package srcline

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/insn"
)

func TestEdits(t *testing.T) {
	type code = asm.Instructions
	some := code{asm.Mov.Imm(asm.R1, 1), asm.JEq.Imm(asm.R1, 7, "out")}
	dear := append(slices.Clone(some), asm.Mul.Imm(asm.R1, 3))
	for _, c := range []struct {
		name               string
		base, head         code
		baseText, headText string
		ran                []int
		want               Edit
	}{
		{"the same", some, some, "a", "a", nil, Unedited},
		{"indented", some, some, "a b", "  a  b", nil, Unedited},
		{"other registers", some, code{asm.Mov.Imm(asm.R3, 1), asm.JEq.Imm(asm.R3, 7, "off")}, "a", "a", nil, Unedited},
		{"spilled", some, append(slices.Clone(some), asm.StoreMem(asm.R10, -8, asm.R1, asm.DWord), asm.LoadMem(asm.R1, asm.R10, -8, asm.DWord), asm.Mov.Reg(asm.R2, asm.R1)), "a", "a", nil, Unedited},
		{"elsewhere on the stack", code{asm.Add.Imm(asm.R1, -8)}, code{asm.Add.Imm(asm.R1, -16)}, "a", "a", nil, Unedited},
		{"inlined twice", some, append(slices.Clone(some), some...), "a", "a", nil, EditRan},
		{"another limit", some, code{asm.Mov.Imm(asm.R1, 1), asm.JEq.Imm(asm.R1, 9, "out")}, "a", "a", nil, EditMissed},
		{"another limit that is reached", some, code{asm.Mov.Imm(asm.R1, 1), asm.JEq.Imm(asm.R1, 9, "out")}, "a", "a", []int{1}, EditRan},
		{"another helper", code{asm.FnKtimeGetNs.Call()}, code{asm.FnGetPrandomU32.Call()}, "a", "a", nil, EditMissed},
		{"another map", code{asm.LoadMapPtr(asm.R1, 0).WithReference("x")}, code{asm.LoadMapPtr(asm.R1, 0).WithReference("y")}, "a", "a", nil, EditMissed},
		{"a branch more, not taken", some, dear, "a", "a", []int{0, 1}, EditMissed},
		{"a branch more, taken", some, dear, "a", "a", []int{0, 1, 2}, EditRan},
		{"a branch less", dear, some, "a", "a", nil, EditRan},
		{"other text", some, some, "a", "b", nil, EditMissed},
		{"other text that is reached", some, some, "a", "b", []int{0}, EditRan},
		{"new", nil, some, "", "a", nil, EditMissed},
		{"new, in part", nil, some, "", "a", []int{0}, EditMissed},
		{"new, all", nil, some, "", "a", []int{0, 1}, EditRan},
	} {
		line := func(insns code, text string) *Line {
			l := &Line{File: "a.c", Number: 1, Text: text}
			for i := range insns {
				l.Offsets = append(l.Offsets, i)
			}
			return l
		}
		j := Joined{Base: line(c.base, c.baseText), Head: line(c.head, c.headText)}
		if c.base == nil {
			j.Base = nil
		}
		base, head := &insn.Program{Instructions: c.base}, &insn.Program{Instructions: c.head}
		ran := func(i int) bool { return slices.Contains(c.ran, i) }
		if got := Edits([]Joined{j}, base, head, ran); got[0] != c.want {
			t.Errorf("%s: %d, want %d", c.name, got[0], c.want)
		}
		// As one that another function had before.
		if moved := Edits([]Joined{{Head: j.Head}, {Base: line(c.base, c.baseText)}}, base, head, ran); c.base != nil && c.baseText == c.headText && moved[0] != c.want {
			t.Errorf("%s, moved: %d, want %d", c.name, moved[0], c.want)
		}
	}
}
