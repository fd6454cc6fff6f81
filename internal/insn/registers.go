package insn

import (
	"math/bits"

	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/insn/bytecode"
)

// registers is a set of R0 to R9. R10 always points to the stack and cannot be
// written, so it is in no set.
type registers uint16

const (
	argumentRegisters registers = 0b00_0011_1110 // R1 to R5
	scratchRegisters  registers = 0b00_0011_1111 // R0 to R5, which calls clobber
	allRegisters      registers = 0b11_1111_1111
)

func only(r asm.Register) registers {
	if r > asm.R9 {
		return 0
	}
	return 1 << r
}

func (s registers) has(r asm.Register) bool { return s&only(r) != 0 }
func (s registers) len() int                { return bits.OnesCount16(uint16(s)) }

// arguments returns the registers in which a call passes n arguments.
func arguments(n int) registers {
	if n > 5 {
		n = 5
	}
	return (1<<(n+1) - 1) &^ 1
}

// effect returns the registers that an instruction reads and those that it
// certainly overwrites. If it calls a function, callee are the registers that
// the function reads.
//
// Source: Documentation/bpf/standardization/instruction-set.rst of the kernel.
func effect(ins *asm.Instruction, callee registers) (reads, writes registers) {
	dst, src := only(ins.Dst), only(ins.Src)
	op := ins.OpCode
	if op.Source() != asm.RegSource && (op.Class().IsALU() || op.Class().IsJump()) {
		src = 0
	}
	switch class := op.Class(); class {
	case asm.ALUClass, asm.ALU64Class:
		switch op.ALUOp() {
		case asm.Mov, asm.MovSX8, asm.MovSX16, asm.MovSX32:
			return src, dst
		}
		return dst | src, dst
	case asm.JumpClass, asm.Jump32Class:
		switch op.JumpOp() {
		case asm.Ja, asm.JCOND:
			return 0, 0
		case asm.Exit:
			return only(asm.R0), 0
		case asm.Call:
			return passed(ins, callee), scratchRegisters
		}
		return dst | src, 0
	case asm.LdClass:
		switch op.Mode() {
		case asm.AbsMode:
			return only(asm.R6), scratchRegisters
		case asm.IndMode:
			return only(asm.R6) | src, scratchRegisters
		}
		return 0, dst
	case asm.LdXClass:
		return src, dst
	case asm.StClass:
		return dst, 0
	case asm.StXClass:
		return storeEffect(op, dst, src)
	}
	return allRegisters, 0
}

// Atomic operations by the value in the instruction, for which cilium/ebpf has
// no names.
const (
	fetchFlag    = 0x01
	cmpXchg      = 0xf1
	loadAcquire  = 0x100
	storeRelease = 0x110
)

func storeEffect(op asm.OpCode, dst, src registers) (reads, writes registers) {
	if op.Mode() != asm.AtomicMode {
		return dst | src, 0
	}
	switch atomic := uint32(op.AtomicOp()) >> 8; {
	case atomic == loadAcquire:
		return src, dst
	case atomic == storeRelease:
		return dst | src, 0
	case atomic == cmpXchg:
		return dst | src | only(asm.R0), only(asm.R0)
	case atomic&fetchFlag != 0:
		return dst | src, src
	}
	return dst | src, 0
}

// passed returns the registers in which a call passes arguments. Only the
// kernel knows those of a kfunc.
func passed(ins *asm.Instruction, callee registers) registers {
	if ins.IsFunctionCall() {
		return callee
	}
	if h, ok := bytecode.HelperOf(ins); ok {
		return arguments(h.Arguments)
	}
	return argumentRegisters
}
