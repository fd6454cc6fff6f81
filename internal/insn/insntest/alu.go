package insntest

import (
	"math"
	"math/bits"

	"github.com/cilium/ebpf/asm"
)

// alu returns the result of an operation; ok is false if the machine does not
// know it. A narrow operation has 32 bits, and zeroes the upper half.
func alu(op asm.ALUOp, a, b uint64, narrow bool) (v uint64, ok bool) {
	if narrow {
		v, ok = alu32(op, uint32(a), uint32(b))
		return uint64(uint32(v)), ok
	}
	switch op {
	case asm.Div:
		if b == 0 {
			return 0, true
		}
		return a / b, true
	case asm.Mod:
		if b == 0 {
			return a, true
		}
		return a % b, true
	case asm.SDiv:
		switch {
		case b == 0:
			return 0, true
		case int64(a) == math.MinInt64 && int64(b) == -1:
			return a, true
		}
		return uint64(int64(a) / int64(b)), true
	case asm.SMod:
		switch {
		case b == 0:
			return a, true
		case int64(b) == -1:
			return 0, true
		}
		return uint64(int64(a) % int64(b)), true
	case asm.LSh:
		return a << (b & 63), true
	case asm.RSh:
		return a >> (b & 63), true
	case asm.ArSh:
		return uint64(int64(a) >> (b & 63)), true
	case asm.MovSX8:
		return extend(b, 1), true
	case asm.MovSX16:
		return extend(b, 2), true
	case asm.MovSX32:
		return extend(b, 4), true
	}
	return plain(op, a, b)
}

func alu32(op asm.ALUOp, a, b uint32) (v uint64, ok bool) {
	switch op {
	case asm.SDiv:
		switch {
		case b == 0:
			return 0, true
		case int32(a) == math.MinInt32 && int32(b) == -1:
			return uint64(a), true
		}
		return uint64(int32(a) / int32(b)), true
	case asm.SMod:
		switch {
		case b == 0:
			return uint64(a), true
		case int32(b) == -1:
			return 0, true
		}
		return uint64(int32(a) % int32(b)), true
	case asm.Div:
		if b == 0 {
			return 0, true
		}
		return uint64(a / b), true
	case asm.Mod:
		if b == 0 {
			return uint64(a), true
		}
		return uint64(a % b), true
	case asm.LSh:
		return uint64(a << (b & 31)), true
	case asm.RSh:
		return uint64(a >> (b & 31)), true
	case asm.ArSh:
		return uint64(int32(a) >> (b & 31)), true
	case asm.MovSX8:
		return extend(uint64(b), 1), true
	case asm.MovSX16:
		return extend(uint64(b), 2), true
	case asm.MovSX32:
		return 0, false
	}
	return plain(op, uint64(a), uint64(b))
}

// plain does the operations whose lower bits depend only on lower bits.
func plain(op asm.ALUOp, a, b uint64) (v uint64, ok bool) {
	switch op {
	case asm.Add:
		return a + b, true
	case asm.Sub:
		return a - b, true
	case asm.Mul:
		return a * b, true
	case asm.Or:
		return a | b, true
	case asm.And:
		return a & b, true
	case asm.Xor:
		return a ^ b, true
	case asm.Neg:
		return -a, true
	case asm.Mov:
		return b, true
	}
	return 0, false
}

// swap converts the byte order of the lower bits, and zeroes those above. A
// conversion to the machine's own order only zeroes.
func swap(op asm.OpCode, v uint64, width int64) (uint64, bool) {
	reverse := op.Class() == asm.ALU64Class || (op.Endianness() == asm.BE) == littleEndian
	switch width {
	case 16:
		if reverse {
			v = uint64(bits.ReverseBytes16(uint16(v)))
		}
		return uint64(uint16(v)), true
	case 32:
		if reverse {
			v = uint64(bits.ReverseBytes32(uint32(v)))
		}
		return uint64(uint32(v)), true
	case 64:
		if reverse {
			v = bits.ReverseBytes64(v)
		}
		return v, true
	}
	return 0, false
}

var littleEndian = load([]byte{1, 0}) == 1

// taken reports whether a conditional jump is taken.
func taken(op asm.JumpOp, a, b uint64, narrow bool) (yes, ok bool) {
	sa, sb := int64(a), int64(b)
	if narrow {
		a, b = uint64(uint32(a)), uint64(uint32(b))
		sa, sb = int64(int32(a)), int64(int32(b))
	}
	switch op {
	case asm.JEq:
		return a == b, true
	case asm.JNE:
		return a != b, true
	case asm.JGT:
		return a > b, true
	case asm.JGE:
		return a >= b, true
	case asm.JLT:
		return a < b, true
	case asm.JLE:
		return a <= b, true
	case asm.JSet:
		return a&b != 0, true
	case asm.JSGT:
		return sa > sb, true
	case asm.JSGE:
		return sa >= sb, true
	case asm.JSLT:
		return sa < sb, true
	case asm.JSLE:
		return sa <= sb, true
	}
	return false, false
}
