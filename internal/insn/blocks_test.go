package insn

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// graphOf returns the graph of a program that calls its functions by name.
func graphOf(t testing.TB, insns ...asm.Instruction) *graph {
	t.Helper()
	labelled, targets, err := label(insns)
	if err != nil {
		t.Fatal(err)
	}
	return newGraph("main", labelled, targets)
}

var (
	kfunc   = asm.Instruction{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Call), Src: asm.PseudoKfuncCall, Constant: 1}
	mayGoto = asm.Instruction{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.JCOND)}
	nothing = asm.Mov.Imm(asm.R0, 0)
	exit    = asm.Return()
)

// function makes an instruction the first one of a function.
func function(name string, linkage btf.FuncLinkage, params int, ins asm.Instruction) asm.Instruction {
	number := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	proto := &btf.FuncProto{Return: number}
	for i := range params {
		proto.Params = append(proto.Params, btf.FuncParam{Name: string(rune('a' + i)), Type: number})
	}
	return btf.WithFuncMetadata(ins.WithSymbol(name), &btf.Func{Name: name, Type: proto, Linkage: linkage})
}

func TestBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		insns  asm.Instructions
		starts []int
	}{
		"one block":                          {asm.Instructions{nothing, nothing, exit}, []int{0}},
		"a branch":                           {asm.Instructions{nothing, ifZero(asm.R0, 1), nothing, exit}, []int{0, 2, 3}},
		"a branch to what follows":           {asm.Instructions{ifZero(asm.R1, 0), nothing, exit}, []int{0, 1}},
		"a loop":                             {asm.Instructions{nothing, nothing, ifZero(asm.R0, -2), exit}, []int{0, 1, 3}},
		"a loop to the start":                {asm.Instructions{nothing, ifZero(asm.R0, -2), exit}, []int{0, 0, 2}},
		"code that nothing leads to":         {asm.Instructions{nothing, exit, nothing, exit}, []int{0, 2}},
		"a helper":                           {asm.Instructions{asm.FnKtimeGetNs.Call(), nothing, exit}, []int{0}},
		"a tail call":                        {asm.Instructions{asm.FnTailCall.Call(), nothing, exit}, []int{0, 1}},
		"packet access":                      {asm.Instructions{asm.LoadAbs(0, asm.Byte), asm.LoadInd(asm.R0, asm.R1, 0, asm.Byte), exit}, []int{0, 1, 2}},
		"a kfunc":                            {asm.Instructions{kfunc, nothing, exit}, []int{0, 1}},
		"may_goto":                           {asm.Instructions{mayGoto, nothing, exit}, []int{0, 1}},
		"a call":                             {asm.Instructions{asm.Call.Label("f"), nothing, exit, nothing.WithSymbol("f"), exit}, []int{0, 3}},
		"a call that may throw":              {asm.Instructions{asm.Call.Label("f"), nothing, exit, kfunc.WithSymbol("f"), exit}, []int{0, 1, 3, 4}},
		"a helper whose callback may throw":  {asm.Instructions{asm.FnLoop.Call(), nothing, exit, kfunc, exit}, []int{0, 1, 3, 4}},
		"a function that only BTF tells of":  {asm.Instructions{nothing, exit, function("f", btf.StaticFunc, 0, nothing), exit}, []int{0, 2}},
		"a 64-bit load counts as one":        {asm.Instructions{asm.LoadImm(asm.R0, 0, asm.DWord), ifZero(asm.R0, 2), asm.LoadImm(asm.R0, 0, asm.DWord), exit}, []int{0, 2, 3}},
		"a function that ends without exit":  {asm.Instructions{asm.Call.Label("f"), exit, nothing.WithSymbol("f")}, []int{0, 2}},
		"a function that a pointer leads to": {asm.Instructions{pointerTo("f"), exit, nothing.WithSymbol("f"), exit}, []int{0, 2}},
	} {
		g := graphOf(t, c.insns...)
		var starts []int
		for b := range g.blocks {
			starts = append(starts, g.blocks[b].Start)
		}
		if !slices.Equal(starts, c.starts) {
			t.Errorf("%s: blocks begin at %v, want %v", name, starts, c.starts)
		}
	}
}

// pointerTo loads a pointer to a function into R2.
func pointerTo(function string) asm.Instruction {
	return asm.Instruction{OpCode: asm.LoadImmOp(asm.DWord), Dst: asm.R2, Src: asm.PseudoFunc, Constant: -1}.WithReference(function)
}
