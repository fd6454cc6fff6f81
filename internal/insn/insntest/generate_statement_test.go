package insntest_test

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

func (g *generator) statement() {
	g.budget--
	switch n := g.IntN(40); {
	case n < 14:
		g.arithmetic()
	case n < 17:
		g.stack()
	case n < 21:
		g.readPacket()
	case n < 24:
		g.useMap()
	case n < 26:
		g.global()
	case n < 32:
		g.branch()
	case n < 35:
		g.loop()
	case n < 37:
		g.callFunction()
	case n == 37:
		g.other()
	case n == 38:
		g.jumpOut()
	default:
		g.number(g.target())
	}
}

var operations = []asm.ALUOp{asm.Add, asm.Sub, asm.Mul, asm.Div, asm.Mod, asm.Or, asm.And, asm.Xor, asm.LSh, asm.RSh, asm.ArSh, asm.Mov, asm.Neg}

func (g *generator) arithmetic() {
	dst, ok := g.any(g.defined &^ g.locked)
	if !ok {
		g.number(g.target())
		return
	}
	op, narrow := operations[g.IntN(len(operations))], g.IntN(2) == 0
	if g.level >= linux69 && g.IntN(4) == 0 {
		op = []asm.ALUOp{asm.SDiv, asm.SMod, asm.MovSX8, asm.MovSX16, asm.MovSX32}[g.IntN(5)]
	}
	signs := op == asm.MovSX8 || op == asm.MovSX16 || op == asm.MovSX32
	switch {
	case g.IntN(10) == 0:
		size := []asm.Size{asm.Half, asm.Word, asm.DWord}[g.IntN(3)]
		if g.level >= linux69 && g.IntN(2) == 0 {
			g.emit(asm.BSwap(dst, size))
		} else {
			g.emit(asm.HostTo([]asm.Endianness{asm.LE, asm.BE}[g.IntN(2)], dst, size))
		}
		return
	case op == asm.Neg:
		g.emit(asm.Instruction{OpCode: op.Op(asm.ImmSource), Dst: dst})
		return
	case signs || g.IntN(2) == 0:
		src := g.source()
		if narrow && op != asm.MovSX32 {
			g.emit(op.Reg32(dst, src))
		} else {
			g.emit(op.Reg(dst, src))
		}
		return
	}
	n := int32(g.Uint32())
	switch op {
	case asm.LSh, asm.RSh, asm.ArSh:
		n &= 31
	case asm.Div, asm.Mod, asm.SDiv, asm.SMod:
		n = []int32{1, 2, 3, 7, -1, 1 << 20, -1 << 31}[g.IntN(7)]
	}
	if narrow {
		g.emit(op.Imm32(dst, n))
	} else {
		g.emit(op.Imm(dst, n))
	}
}

var sizes = []asm.Size{asm.Byte, asm.Half, asm.Word, asm.DWord}

// spot returns a size and an aligned offset below a limit.
func (g *generator) spot(limit int) (asm.Size, int16) {
	size := sizes[g.IntN(4)]
	n := size.Sizeof()
	return size, int16(g.IntN(limit/n) * n)
}

func (g *generator) stack() {
	size, off := g.spot(8 * g.slots)
	off -= int16(8 * g.slots)
	switch src := g.source(); g.IntN(3) {
	case 0:
		g.emit(asm.StoreMem(asm.R10, off, src, size))
	case 1:
		g.emit(storeImm(asm.R10, off, int64(int32(g.Uint32())), size))
	default:
		dst := g.target()
		g.load(dst, asm.R10, off, size)
	}
}

// load reads a number, sometimes with its sign.
func (g *generator) load(dst, base asm.Register, off int16, size asm.Size) {
	ins := asm.LoadMem(dst, base, off, size)
	if g.level >= linux69 && size != asm.DWord && g.IntN(4) == 0 {
		ins.OpCode = ins.OpCode.SetMode(asm.MemSXMode)
	}
	g.emit(ins)
	g.defined |= set(dst)
}

// pick takes distinct registers for pointers; afterwards, they hold no numbers.
func (g *generator) pick(n int, not regs) (list []asm.Register, ok bool) {
	for range n {
		r, ok := g.free(not)
		if !ok {
			return nil, false
		}
		not |= set(r)
		list = append(list, r)
	}
	return list, true
}

func (g *generator) readPacket() {
	if g.isBack {
		g.touch(asm.R6, 8)
		return
	}
	dst := g.target()
	p, ok := g.pick(3, set(dst))
	if !ok {
		return
	}
	if !g.defined.has(dst) {
		g.number(dst)
	}
	g.defined &^= set(p...)
	data, end := int16(0), int16(4)
	if g.typ == ebpf.SchedCLS {
		data, end = 76, 80
	}
	size, off := g.spot(48)
	skip := g.label()
	g.emit(asm.LoadMem(p[0], asm.R6, data, asm.Word), asm.LoadMem(p[1], asm.R6, end, asm.Word))
	if index, ok := g.any(g.defined &^ set(dst)); ok && g.IntN(3) == 0 {
		g.emit(asm.Mov.Reg(p[2], index), asm.And.Imm(p[2], 15), asm.Add.Reg(p[0], p[2]))
	}
	g.emit(asm.Mov.Reg(p[2], p[0]), asm.Add.Imm(p[2], int32(off)+int32(size.Sizeof())), asm.JGT.Reg(p[2], p[1], skip))
	if g.IntN(4) == 0 {
		g.emit(asm.StoreMem(p[0], off, g.mustSource(dst), size))
	} else {
		g.load(dst, p[0], off, size)
	}
	g.place(skip)
}

// mustSource is source without new instructions.
func (g *generator) mustSource(or asm.Register) asm.Register {
	if r, ok := g.any(g.defined); ok {
		return r
	}
	return or
}

// call calls a helper whose arguments are in place.
func (g *generator) call(fn asm.BuiltinFunc) {
	g.emit(fn.Call())
	g.defined &^= clobbered
}

// canCall reports whether a call would not clobber a register that a loop
// counts with.
func (g *generator) canCall() bool { return g.locked&clobbered == 0 }

func (g *generator) useMap() {
	if !g.canCall() || g.slots < 5 {
		return
	}
	name := []string{arrayMap, percpuMap, hashMap}[g.IntN(3)]
	key := g.source()
	g.emit(asm.StoreMem(asm.R10, -8, key, asm.DWord))
	if g.IntN(2) == 0 {
		// Small keys often exist.
		g.emit(storeImm(asm.R10, -8, int64(g.IntN(7)), asm.DWord))
	}
	load := asm.LoadMapPtr(asm.R1, 0).WithReference(name)
	g.emit(asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, -8), load)
	switch action := g.IntN(4); {
	case action == 0:
		g.emit(asm.Mov.Reg(asm.R3, asm.R10), asm.Add.Imm(asm.R3, -8-valueSize), asm.Mov.Imm(asm.R4, int32(g.IntN(3))))
		g.call(asm.FnMapUpdateElem)
		g.code()
		return
	case action == 1 && name == hashMap:
		g.call(asm.FnMapDeleteElem)
		g.code()
		return
	}
	g.call(asm.FnMapLookupElem)
	skip := g.label()
	g.emit(asm.JEq.Imm(asm.R0, 0, skip))
	g.touch(asm.R0, valueSize)
	g.place(skip)
	g.defined &^= set(asm.R0)
}

// code handles the result of a map helper: before Linux 6.4, the upper half of
// an error is zero.
func (g *generator) code() {
	g.emit(asm.LSh.Imm(asm.R0, 32), asm.ArSh.Imm(asm.R0, 32))
	g.defined |= set(asm.R0)
}

// touch reads or writes the memory behind a pointer.
func (g *generator) touch(p asm.Register, limit int) {
	src, ok := g.any(g.defined &^ set(p))
	if !ok {
		g.emit(storeImm(p, 0, 7, asm.Word))
		return
	}
	size, off := g.spot(limit)
	wide := []asm.Size{asm.Word, asm.DWord}[g.IntN(2)]
	at := int16(g.IntN(limit/8) * 8)
	dst, canLoad := g.any(g.defined &^ g.locked &^ set(p))
	kinds := 6
	if g.level < linux517 {
		kinds = 3
	}
	switch n := g.IntN(kinds); {
	case n == 0 && canLoad:
		g.load(dst, p, off, size)
	case n == 1:
		g.emit(asm.StoreMem(p, off, src, size))
	case n == 2:
		op := asm.AddAtomic
		if g.level >= linux517 {
			op = []asm.AtomicOp{asm.AddAtomic, asm.AndAtomic, asm.OrAtomic, asm.XorAtomic}[g.IntN(4)]
		}
		g.emit(atomic(op, p, src, wide, at))
	case n == 3 && canLoad:
		op := []asm.AtomicOp{asm.FetchAdd, asm.FetchAnd, asm.FetchOr, asm.FetchXor, asm.Xchg}[g.IntN(5)]
		g.emit(atomic(op, p, dst, wide, at))
	case n == 4 && g.defined.has(asm.R0) && !g.locked.has(asm.R0) && p != asm.R0:
		g.emit(atomic(asm.CmpXchg, p, src, wide, at))
	default:
		g.emit(atomic(asm.AddAtomic, p, src, asm.DWord, at))
	}
}

func (g *generator) global() {
	p, ok := g.free(0)
	if !ok {
		return
	}
	g.defined &^= set(p)
	g.emit(asm.LoadMapValue(p, 0, 8).WithReference(globalsMap))
	for range 1 + g.IntN(2) {
		g.touch(p, 48)
	}
}

// other emits what few programs do.
func (g *generator) other() {
	if !g.canCall() || g.isBack {
		return
	}
	switch {
	case g.tails && g.IntN(2) == 0:
		g.emit(asm.Mov.Reg(asm.R1, asm.R6), asm.LoadMapPtr(asm.R2, 0).WithReference(tailsMap), asm.Mov.Imm(asm.R3, int32(g.IntN(4))))
		g.call(asm.FnTailCall)
		return
	case g.typ == ebpf.SchedCLS && !g.inside:
		g.emit(asm.LoadAbs(int32(g.IntN(70)), sizes[g.IntN(3)]))
		g.defined &^= clobbered
	case g.typ == ebpf.XDP:
		by := int32(g.IntN(40) - 20)
		g.emit(asm.Mov.Reg(asm.R1, asm.R6), asm.Mov.Imm(asm.R2, by))
		g.call([]asm.BuiltinFunc{asm.FnXdpAdjustHead, asm.FnXdpAdjustTail, asm.FnXdpAdjustMeta}[g.IntN(3)])
	default:
		return
	}
	g.defined |= set(asm.R0)
}

// storeImm writes a constant of any size, sign-extended to 64 bits.
func storeImm(base asm.Register, off int16, value int64, size asm.Size) asm.Instruction {
	return asm.Instruction{OpCode: asm.StoreImmOp(size), Dst: base, Offset: off, Constant: int64(int32(value))}
}

// atomic also sets the constant, from which cilium/ebpf v0.22 marshals the kind
// of operation: without it, the kernel gets an addition.
func atomic(op asm.AtomicOp, base, src asm.Register, size asm.Size, off int16) asm.Instruction {
	ins := op.Mem(base, src, size, off)
	ins.Constant = int64(op >> 8)
	return ins
}
