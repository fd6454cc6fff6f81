package bytecode

import "github.com/cilium/ebpf/asm"

// Layout returns the position of each instruction, in slots of 8 bytes, and
// which one starts in each slot: -1 for the second half of a 64-bit load.
func Layout(insns asm.Instructions) (offsets, at []int) {
	offsets = make([]int, len(insns))
	at = make([]int, 0, len(insns)+len(insns)/8)
	for i := range insns {
		offsets[i] = len(at)
		at = append(at, i)
		if insns[i].Width() == 2 {
			at = append(at, -1)
		}
	}
	return offsets, at
}

// DistanceOf returns how far an instruction refers, in slots after it.
func DistanceOf(ins *asm.Instruction) int64 {
	if ins.IsFunctionReference() || IsLongJump(ins) {
		return int64(int32(ins.Constant))
	}
	return int64(ins.Offset)
}

// IsJump reports whether an instruction continues elsewhere in the same
// function, always or in some cases.
func IsJump(ins *asm.Instruction) bool {
	switch ins.OpCode.JumpOp() {
	case asm.InvalidJumpOp, asm.Call, asm.Exit:
		return false
	}
	return true
}

// IsLongJump reports whether an instruction is gotol, whose distance has 32 bits
// (Linux 6.6).
func IsLongJump(ins *asm.Instruction) bool {
	return ins.OpCode.Class() == asm.Jump32Class && ins.OpCode.JumpOp() == asm.Ja
}
