package insn

import (
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/insn/bytecode"
)

// TailCall is a tail call that a program made.
type TailCall struct {
	Index int    // of the call, in the program's Instructions
	Times uint64 // how often it was made
	// Failed is how often it did not happen and the program continued after it.
	// Told says whether the counts show that; they do not if a jump also leads
	// there.
	Failed uint64
	Told   bool
	// Map is the map that it used and Key the index in it, if the block of the
	// call shows them: otherwise Map is "" or Key is -1.
	Map string
	Key int64
}

// TailCalls returns the tail calls that a program made.
func (c *Counts) TailCalls(program string) []TailCall {
	p, counts := c.of(program)
	if p == nil {
		return nil
	}
	reached := map[string]bool{}
	for i := range p.Instructions {
		if bytecode.IsJump(&p.Instructions[i]) {
			reached[p.Instructions[i].Reference()] = true
		}
	}
	var all []TailCall
	for b := range p.Blocks[:max(len(p.Blocks)-1, 0)] {
		block, next := &p.Blocks[b], &p.Blocks[b+1]
		if counts[b] == 0 || block.Start == block.End || !isTailCall(&p.Instructions[block.End-1]) || next.Function != block.Function {
			continue
		}
		symbol := p.Instructions[next.Start].Symbol()
		call := TailCall{Index: block.End - 1, Times: counts[b]}
		if call.Told = counts[b+1] == 0 || symbol == "" || !reached[symbol]; call.Told {
			call.Failed = counts[b+1]
		}
		call.Map, call.Key = p.tailCallArguments(block)
		all = append(all, call)
	}
	return all
}

func isTailCall(ins *asm.Instruction) bool {
	return ins.IsBuiltinCall() && asm.BuiltinFunc(ins.Constant) == asm.FnTailCall
}

// TailCalls reports whether a program of the collection makes tail calls, by
// which it may reach its own start again.
func (t *Table) TailCalls() bool {
	for _, p := range t.Programs {
		for i := range p.Instructions {
			if isTailCall(&p.Instructions[i]) {
				return true
			}
		}
	}
	return false
}

// tailCallArguments returns the map and the key of the call that ends a block.
func (p *Program) tailCallArguments(block *Block) (name string, key int64) {
	key = -1
	var known registers
	for i := block.End - 2; i >= block.Start; i-- {
		ins := &p.Instructions[i]
		if ins.OpCode.JumpOp() == asm.Call {
			return name, key
		}
		if class := ins.OpCode.Class(); class.IsStore() || class.IsJump() || known.has(ins.Dst) {
			continue
		}
		known |= only(ins.Dst)
		switch {
		case ins.Dst == asm.R2 && ins.IsLoadFromMap():
			name = ins.Reference()
		case ins.Dst == asm.R3 && ins.OpCode.Class().IsALU() && ins.OpCode.ALUOp() == asm.Mov && ins.OpCode.Source() == asm.ImmSource:
			key = ins.Constant & 0xffffffff // the kernel uses its lower 32 bits
		}
	}
	return name, key
}
