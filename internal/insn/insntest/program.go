package insntest

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// program is a program with its jumps resolved.
type program struct {
	name     string
	typ      ebpf.ProgramType
	insns    asm.Instructions
	target   []int // of a jump, a call or a function pointer: an index, or -1
	refers   []string
	executed []uint64
	number   uint64
}

func newProgram(name string, spec *ebpf.ProgramSpec, number int) *program {
	p := &program{
		name: name, typ: spec.Type, insns: spec.Instructions, number: uint64(number),
		target:   make([]int, len(spec.Instructions)),
		refers:   make([]string, len(spec.Instructions)),
		executed: make([]uint64, len(spec.Instructions)),
	}
	// Offsets count a 64-bit load as two instructions.
	offsets := make([]int64, len(p.insns))
	indices := map[int64]int{}
	symbols := map[string]int{}
	var offset int64
	for i := range p.insns {
		offsets[i], indices[offset] = offset, i
		if s := p.insns[i].Symbol(); s != "" {
			symbols[s] = i
		}
		p.refers[i] = p.insns[i].Reference()
		offset++
		if p.insns[i].OpCode.IsDWordLoad() {
			offset++
		}
	}
	for i := range p.insns {
		ins := &p.insns[i]
		p.target[i] = -1
		jump := ins.OpCode.JumpOp()
		calls := ins.IsFunctionCall() || ins.IsLoadOfFunctionPointer()
		if !calls && (jump == asm.InvalidJumpOp || jump == asm.Call || jump == asm.Exit) {
			continue
		}
		if name := p.refers[i]; name != "" {
			if to, ok := symbols[name]; ok {
				p.target[i] = to
			}
			continue
		}
		by := int64(ins.Offset)
		if calls || isLongJump(ins) {
			by = ins.Constant
		}
		if to, ok := indices[offsets[i]+1+by]; ok {
			p.target[i] = to
		}
	}
	return p
}

// isLongJump reports whether ins is the jump with its offset in the constant.
func isLongJump(ins *asm.Instruction) bool {
	return ins.OpCode.Class() == asm.Jump32Class && ins.OpCode.JumpOp() == asm.Ja
}

// relocated reports whether an instruction differs in the kernel.
func relocated(ins *asm.Instruction) bool { return btf.CORERelocationMetadata(ins) != nil }
