package bytecode

import (
	"fmt"
	"strings"

	"github.com/cilium/ebpf/asm"
)

// Disassemble returns the text of each instruction of a program as the verifier
// and llvm-objdump write it, but with names instead of the numbers of maps,
// helpers and functions. Jumps show the slot that they lead to; see Slots.
func Disassemble(insns asm.Instructions) []string {
	slots, _ := Layout(insns)
	text := make([]string, len(insns))
	for i := range insns {
		text[i] = disassemble(&insns[i], slots[i])
	}
	targets(insns, slots, text)
	return text
}

// targets adds the targets of jumps whose distances are not known yet, because
// they refer to symbols.
func targets(insns asm.Instructions, slots []int, text []string) {
	at := map[string]int{}
	for i := range insns {
		if s := insns[i].Symbol(); s != "" {
			at[s] = slots[i]
		}
	}
	for i := range insns {
		ins := &insns[i]
		if slot, ok := at[ins.Reference()]; ok && IsJump(ins) && ins.Reference() != "" && DistanceOf(ins) == -1 {
			text[i] = strings.Replace(text[i], fmt.Sprintf("%+d <%d>", -1, slots[i]), fmt.Sprintf("%+d <%d>", slot-slots[i]-1, slot), 1)
		}
	}
}

func disassemble(ins *asm.Instruction, slot int) string {
	switch class := ins.OpCode.Class(); {
	case class.IsALU():
		return arithmetic(ins)
	case class.IsJump():
		return jumping(ins, slot)
	case class.IsStore():
		return store(ins)
	}
	return load(ins)
}

// register returns r0 to r10, or w0 to w10 for the lower half.
func register(r asm.Register, half bool) string {
	if half {
		return fmt.Sprintf("w%d", r)
	}
	return fmt.Sprintf("r%d", r)
}

// operand returns the second operand of arithmetic and comparisons.
func operand(ins *asm.Instruction, half bool) string {
	if ins.OpCode.Source() == asm.RegSource {
		return register(ins.Src, half)
	}
	return fmt.Sprint(ins.Constant)
}

var operators = map[asm.ALUOp]string{
	asm.Add: "+=", asm.Sub: "-=", asm.Mul: "*=", asm.Div: "/=", asm.SDiv: "s/=", asm.Or: "|=", asm.And: "&=",
	asm.LSh: "<<=", asm.RSh: ">>=", asm.Mod: "%=", asm.SMod: "s%=", asm.Xor: "^=", asm.Mov: "=", asm.ArSh: "s>>=",
}

// castMark is the offset that marks a move between address spaces (Linux 6.9).
const castMark = 1

func arithmetic(ins *asm.Instruction) string {
	half := ins.OpCode.Class() == asm.ALUClass
	dst, src := register(ins.Dst, half), operand(ins, half)
	switch op := ins.OpCode.ALUOp(); op {
	case asm.Neg:
		return dst + " = -" + dst
	case asm.Swap:
		name := "bswap"
		if half {
			name = strings.ToLower(ins.OpCode.Endianness().String())
		}
		r := register(ins.Dst, false)
		return fmt.Sprintf("%s = %s%d %s", r, name, ins.Constant, r)
	case asm.MovSX8, asm.MovSX16, asm.MovSX32:
		return fmt.Sprintf("%s = (s%d)%s", dst, 8<<((op-asm.MovSX8)>>8), src)
	case asm.Mov:
		if !half && ins.OpCode.Source() == asm.RegSource && ins.Offset == castMark {
			return fmt.Sprintf("%s = addr_space_cast(%s, %d, %d)", dst, src, uint32(ins.Constant)>>16, ins.Constant&0xffff)
		}
		fallthrough
	default:
		if name, ok := operators[op]; ok {
			return dst + " " + name + " " + src
		}
	}
	return fmt.Sprint(*ins)
}

var comparisons = map[asm.JumpOp]string{
	asm.JEq: "==", asm.JGT: ">", asm.JGE: ">=", asm.JSet: "&", asm.JNE: "!=", asm.JSGT: "s>", asm.JSGE: "s>=",
	asm.JLT: "<", asm.JLE: "<=", asm.JSLT: "s<", asm.JSLE: "s<=",
}

func jumping(ins *asm.Instruction, slot int) string {
	half := ins.OpCode.Class() == asm.Jump32Class
	to := func() string { d := DistanceOf(ins); return fmt.Sprintf("%+d <%d>", d, int64(slot)+1+d) }
	switch op := ins.OpCode.JumpOp(); {
	case op == asm.Exit:
		return "exit"
	case op == asm.Call:
		return call(ins, to)
	case op == asm.Ja && ins.OpCode.Source() == asm.RegSource:
		return "gotox " + register(ins.Dst, false)
	case op == asm.Ja && half:
		return "gotol " + to()
	case op == asm.Ja:
		return "goto " + to()
	case op == asm.JCOND:
		return "may_goto " + to()
	case comparisons[op] != "":
		return fmt.Sprintf("if %s %s %s goto %s", register(ins.Dst, half), comparisons[op], operand(ins, half), to())
	}
	return fmt.Sprint(*ins)
}

func call(ins *asm.Instruction, to func() string) string {
	switch {
	case ins.OpCode.Source() == asm.RegSource:
		return "callx " + register(ins.Dst, false)
	case Calls(ins) != "":
		return "call " + Calls(ins)
	case ins.Reference() != "":
		return "call " + ins.Reference()
	}
	return "call " + to()
}

var sizes = map[asm.Size]int{asm.Byte: 8, asm.Half: 16, asm.Word: 32, asm.DWord: 64}

// memory returns text such as (u32 *)(r10 - 4).
func memory(ins *asm.Instruction, r asm.Register, sign string) string {
	offset, operator := int(ins.Offset), "+"
	if offset < 0 {
		offset, operator = -offset, "-"
	}
	return fmt.Sprintf("(%s%d *)(r%d %s %d)", sign, sizes[ins.OpCode.Size()], r, operator, offset)
}

func load(ins *asm.Instruction) string {
	dst := register(ins.Dst, false)
	switch mode := ins.OpCode.Mode(); {
	case ins.OpCode.IsDWordLoad():
		return dst + " = " + immediate(ins)
	case mode == asm.AbsMode:
		return fmt.Sprintf("r0 = *(u%d *)skb[%d]", sizes[ins.OpCode.Size()], ins.Constant)
	case mode == asm.IndMode && ins.Constant == 0:
		return fmt.Sprintf("r0 = *(u%d *)skb[r%d]", sizes[ins.OpCode.Size()], ins.Src)
	case mode == asm.IndMode:
		return fmt.Sprintf("r0 = *(u%d *)skb[r%d + %d]", sizes[ins.OpCode.Size()], ins.Src, ins.Constant)
	case mode == asm.MemMode:
		return dst + " = *" + memory(ins, ins.Src, "u")
	case mode == asm.MemSXMode:
		return dst + " = *" + memory(ins, ins.Src, "s")
	}
	return fmt.Sprint(*ins)
}

// immediate returns the operand of a 64-bit load: a number, or the address of a
// name.
func immediate(ins *asm.Instruction) string {
	name := ins.Reference()
	switch {
	case ins.IsFunctionReference():
		return "subprog[" + name + "]"
	case ins.IsLoadFromMap() && ins.Src == asm.PseudoMapValue:
		return fmt.Sprintf("map[%s][0]+%d", name, uint64(ins.Constant)>>32)
	case ins.IsLoadFromMap():
		return "map[" + name + "]"
	case name != "":
		return name + " ll"
	}
	return fmt.Sprintf("%d ll", ins.Constant)
}

func store(ins *asm.Instruction) string {
	at, src := memory(ins, ins.Dst, "u"), register(ins.Src, false)
	wide := ""
	if ins.OpCode.Size() == asm.DWord {
		wide = "64"
	}
	switch op := ins.OpCode.AtomicOp(); op {
	case asm.InvalidAtomic:
		if ins.OpCode.Class() == asm.StClass {
			return fmt.Sprintf("*%s = %d", at, ins.Constant)
		}
		return "*" + at + " = " + src
	case asm.AddAtomic, asm.AndAtomic, asm.OrAtomic, asm.XorAtomic:
		return fmt.Sprintf("lock *%s %s %s", at, operators[asm.ALUOp(op>>8)], src)
	case asm.FetchAdd, asm.FetchAnd, asm.FetchOr, asm.FetchXor:
		name := strings.ToLower(asm.ALUOp((op &^ fetch) >> 8).String())
		return fmt.Sprintf("%s = atomic%s_fetch_%s(%s, %s)", src, wide, name, at, src)
	case asm.Xchg:
		return fmt.Sprintf("%s = atomic%s_xchg(%s, %s)", src, wide, at, src)
	case asm.CmpXchg:
		return fmt.Sprintf("r0 = atomic%s_cmpxchg(%s, r0, %s)", wide, at, src)
	case acquire:
		return fmt.Sprintf("%s = load_acquire(%s)", register(ins.Dst, false), memory(ins, ins.Src, "u"))
	case release:
		return fmt.Sprintf("store_release(%s, %s)", at, src)
	}
	return fmt.Sprint(*ins)
}

// Names that package asm lacks: the flag of an atomic operation that returns
// the old value, and two operations of Linux 6.15.
const (
	fetch   asm.AtomicOp = 0x100
	acquire asm.AtomicOp = 0x1_0000
	release asm.AtomicOp = 0x1_1000
)
