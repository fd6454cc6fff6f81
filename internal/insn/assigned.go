package insn

import "github.com/cilium/ebpf/asm"

// assignments holds, for each function, the registers that hold a value before
// each of its blocks, on every path to it. The verifier refuses to save others,
// though such a register may be live because other paths read it. Few functions
// save any registers, so this is computed on demand.
type assignments map[int][]registers

// before returns the registers that hold a value before an instruction of a block.
func (a assignments) before(g *graph, b, index int) registers {
	f := g.blocks[b].Function
	if a[f] == nil {
		a[f] = assigned(g, f)
	}
	held := a[f][b-g.begin[f]]
	for i := g.blocks[b].Start; i < index; i++ {
		held = assign(&g.insns[i], held)
	}
	return held
}

// assigned computes the assignments of one function.
func assigned(g *graph, f int) []registers {
	var entry registers
	if f == 0 {
		entry = only(asm.R1) // the context
	}
	return forward(g, f, entry, func(b int, held registers) registers {
		for i := g.blocks[b].Start; i < g.blocks[b].End; i++ {
			held = assign(&g.insns[i], held)
		}
		return held
	})
}

// assign returns the registers that hold a value after an instruction. A call
// may return nothing, and packet access leaves only R0.
func assign(ins *asm.Instruction, held registers) registers {
	_, writes := effect(ins, 0)
	switch {
	case ins.OpCode.JumpOp() == asm.Call:
		return held &^ writes
	case writes == scratchRegisters:
		return held&^writes | only(asm.R0)
	}
	return held | writes
}
