package oracle_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// regs is a set of registers.
type regs uint16

func set(list ...asm.Register) (s regs) {
	for _, r := range list {
		s |= 1 << r
	}
	return s
}

func (s regs) has(r asm.Register) bool { return s&(1<<r) != 0 }

// R6 holds the context everywhere, the others hold numbers.
var (
	numbers   = set(asm.R0, asm.R1, asm.R2, asm.R3, asm.R4, asm.R5, asm.R7, asm.R8, asm.R9)
	clobbered = set(asm.R0, asm.R1, asm.R2, asm.R3, asm.R4, asm.R5)
)

const (
	arrayMap, percpuMap, hashMap, globalsMap, tailsMap = "numbers", "own", "table", ".bss", "tails"
	arrayEntries, valueSize                            = 5, 32
)

// level is what a kernel knows.
type level int

const (
	oldest   level = iota // Linux 5.10
	linux517              // atomic operations that fetch, bpf_loop
	linux69               // the fourth version of the instruction set, may_goto
)

// generator writes programs of which the verifier takes most.
type generator struct {
	*rand.Rand
	typ    ebpf.ProgramType
	level  level
	out    asm.Instructions
	labels int
	next   string // label of the next instruction

	defined regs // hold a number
	locked  regs // must keep theirs
	slots   int  // of 8 bytes on the stack, all written at the start
	calls   []string
	backs   []string // functions to call back
	tails   bool
	loops   int      // nesting
	budget  int      // statements that may follow
	inside  bool     // of several functions
	isBack  bool     // a pointer to the stack is in place of the context
	exits   []string // of the loops around
	exitSet []*regs  // what is defined there
}

// generate makes a collection with a program main, from a seed alone.
func generate(seed uint64, size int, level level) *ebpf.CollectionSpec {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), level: level}
	g.typ = []ebpf.ProgramType{ebpf.XDP, ebpf.SchedCLS}[g.IntN(2)]
	spec := &ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{
			arrayMap:   {Name: arrayMap, Type: ebpf.Array, KeySize: 4, ValueSize: valueSize, MaxEntries: arrayEntries},
			percpuMap:  {Name: percpuMap, Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: valueSize, MaxEntries: arrayEntries},
			hashMap:    {Name: hashMap, Type: ebpf.Hash, KeySize: 8, ValueSize: valueSize, MaxEntries: 3},
			globalsMap: {Name: globalsMap, Type: ebpf.Array, KeySize: 4, ValueSize: 64, MaxEntries: 1},
		},
		Programs: map[string]*ebpf.ProgramSpec{},
	}
	g.tails = g.IntN(4) == 0
	add := func(name string, insns asm.Instructions) {
		spec.Programs[name] = &ebpf.ProgramSpec{Name: name, Type: g.typ, License: "GPL", Instructions: insns}
	}
	add("main", g.program(size))
	if g.tails {
		spec.Maps[tailsMap] = &ebpf.MapSpec{Name: tailsMap, Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: 3,
			Contents: []ebpf.MapKV{{Key: uint32(0), Value: "one"}, {Key: uint32(1), Value: "two"}}}
		add("one", g.program(size/2))
		add("two", g.program(size/2))
	}
	return spec
}

// program writes functions, callees last, and puts them behind each other.
func (g *generator) program(size int) asm.Instructions {
	functions, backs := g.IntN(4), 0
	if g.IntN(3) == 0 && g.level >= linux517 {
		backs = 1
	}
	withInfo := backs > 0 || g.IntN(2) == 0
	var bodies []asm.Instructions
	for i := range 1 + functions + backs {
		g.calls, g.backs = nil, nil
		name, isBack := fmt.Sprintf("f%d", i), i > functions
		for j := i + 1; j <= functions; j++ {
			g.calls = append(g.calls, fmt.Sprintf("f%d", j))
		}
		if !isBack && backs > 0 {
			g.backs = []string{fmt.Sprintf("f%d", functions+1)}
		}
		g.inside = functions+backs > 0
		body := g.function(name, i == 0, isBack, max(2, size/(1+functions)))
		if withInfo {
			body[0] = btf.WithFuncMetadata(body[0], funcInfo(name, i == 0, isBack))
		}
		bodies = append(bodies, body)
	}
	return reached(bodies)
}

// reached puts the functions behind each other that something calls.
func reached(bodies []asm.Instructions) (all asm.Instructions) {
	needed := map[string]bool{bodies[0][0].Symbol(): true}
	for _, body := range bodies {
		if !needed[body[0].Symbol()] {
			continue
		}
		for i := range body {
			if body[i].IsFunctionReference() {
				needed[body[i].Reference()] = true
			}
		}
		all = append(all, body...)
	}
	return all
}

// funcInfo describes a function, as a call back needs it.
func funcInfo(name string, isMain, isBack bool) *btf.Func {
	long := &btf.Int{Name: "long", Size: 8, Encoding: btf.Signed}
	proto := &btf.FuncProto{Return: &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}}
	params := 5
	switch {
	case isMain:
		params = 1
	case isBack:
		params, proto.Return = 2, long
	}
	for i := range params {
		proto.Params = append(proto.Params, btf.FuncParam{Name: fmt.Sprintf("p%d", i), Type: long})
	}
	return &btf.Func{Name: name, Type: proto, Linkage: btf.StaticFunc}
}

func (g *generator) function(name string, isMain, isBack bool, size int) asm.Instructions {
	g.out, g.next, g.locked, g.loops, g.exits, g.exitSet = nil, name, 0, 0, nil, nil
	g.isBack = isBack
	g.slots = 1 + g.IntN(6)
	if isMain {
		g.slots = 1 + g.IntN(18)
	}
	g.budget = 1 + g.IntN(size)
	switch {
	case isBack:
		// It gets an index, and a pointer to the stack of its caller.
		g.emit(asm.Mov.Reg(asm.R6, asm.R2))
		g.defined = set(asm.R1)
	case isMain:
		g.emit(asm.Mov.Reg(asm.R6, asm.R1))
		g.defined = 0
	default:
		g.emit(asm.Mov.Reg(asm.R6, asm.R1))
		g.defined = set(asm.R2, asm.R3, asm.R4, asm.R5)
	}
	for i := range g.slots {
		g.emit(storeImm(asm.R10, int16(-8*(i+1)), int64(g.IntN(1000)), asm.DWord))
	}
	for _, r := range []asm.Register{asm.R7, asm.R8, asm.R9} {
		if g.IntN(4) > 0 {
			g.number(r)
		}
	}
	for g.budget > 0 {
		g.statement()
	}
	g.leave(isBack)
	return g.out
}

func (g *generator) emit(insns ...asm.Instruction) {
	for _, ins := range insns {
		if g.next != "" {
			ins, g.next = ins.WithSymbol(g.next), ""
		}
		g.out = append(g.out, ins)
	}
}

func (g *generator) label() string {
	g.labels++
	return fmt.Sprintf("L%d", g.labels)
}

// place puts a label on the next instruction.
func (g *generator) place(label string) {
	if g.next != "" {
		// Two labels at one place take an instruction between.
		g.emit(asm.Mov.Reg(asm.R6, asm.R6))
	}
	g.next = label
}

// any picks a register of a set.
func (g *generator) any(s regs) (asm.Register, bool) {
	var list []asm.Register
	for r := asm.R0; r <= asm.R9; r++ {
		if s.has(r) {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return 0, false
	}
	return list[g.IntN(len(list))], true
}

// target is a register to write to.
func (g *generator) target() asm.Register {
	r, _ := g.any(numbers &^ g.locked)
	return r
}

// source is a register that holds a number.
func (g *generator) source() asm.Register {
	if r, ok := g.any(g.defined); ok {
		return r
	}
	r := g.target()
	g.number(r)
	return r
}

// number puts one into a register.
func (g *generator) number(r asm.Register) {
	g.emit(g.constant(r))
	g.defined |= set(r)
}

func (g *generator) constant(r asm.Register) asm.Instruction {
	switch g.IntN(4) {
	case 0:
		return asm.LoadImm(r, int64(g.Uint64()), asm.DWord)
	case 1:
		return asm.Mov.Imm32(r, int32(g.Uint32()))
	case 2:
		return asm.Mov.Imm(r, int32(g.IntN(16)))
	}
	return asm.Mov.Imm(r, int32(g.Uint32()))
}

// restore gives numbers to registers of a set that have lost theirs.
func (g *generator) restore(s regs) {
	for r := asm.R0; r <= asm.R9; r++ {
		if s.has(r) && !g.defined.has(r) {
			g.number(r)
		}
	}
}

// free is a place for a pointer, which is not to be used as a number.
func (g *generator) free(not regs) (asm.Register, bool) {
	return g.any(numbers &^ g.locked &^ not)
}

func (g *generator) leave(isBack bool) {
	if isBack {
		// All of it makes the loop go on, most of the time.
		g.emit(asm.Mov.Imm(asm.R0, int32(g.IntN(8)/7)), asm.Return())
		return
	}
	rest := g.defined &^ set(asm.R0)
	if !g.defined.has(asm.R0) {
		g.emit(asm.Mov.Imm(asm.R0, 1))
	}
	for r := asm.R1; r <= asm.R9; r++ {
		if rest.has(r) {
			g.emit(asm.Mul.Imm(asm.R0, 31), asm.Xor.Reg(asm.R0, r))
		}
	}
	for i := range min(g.slots, 3) {
		g.emit(asm.LoadMem(asm.R1, asm.R10, int16(-8*(i+1)), asm.DWord), asm.Add.Reg(asm.R0, asm.R1))
	}
	g.emit(asm.Return())
}

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

// spot is a size and an aligned offset below a limit.
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

// load reads a number, with its sign now and then.
func (g *generator) load(dst, base asm.Register, off int16, size asm.Size) {
	ins := asm.LoadMem(dst, base, off, size)
	if g.level >= linux69 && size != asm.DWord && g.IntN(4) == 0 {
		ins.OpCode = ins.OpCode.SetMode(asm.MemSXMode)
	}
	g.emit(ins)
	g.defined |= set(dst)
}

// pick takes distinct registers for pointers; they are no numbers after.
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

// mustSource is a source without new instructions.
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

// keep makes room for a call: what loops count with is not lost to it.
func (g *generator) canCall() bool { return g.locked&clobbered == 0 }

func (g *generator) useMap() {
	if !g.canCall() || g.slots < 5 {
		return
	}
	name := []string{arrayMap, percpuMap, hashMap}[g.IntN(3)]
	key := g.source()
	g.emit(asm.StoreMem(asm.R10, -8, key, asm.DWord))
	if g.IntN(2) == 0 {
		// Small ones are often there.
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

// code is what a helper of maps returns: before Linux 6.4 the upper half of an
// error is zeroes.
func (g *generator) code() {
	g.emit(asm.LSh.Imm(asm.R0, 32), asm.ArSh.Imm(asm.R0, 32))
	g.defined |= set(asm.R0)
}

// touch reads or writes what a pointer points to.
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

var conditions = []asm.JumpOp{asm.JEq, asm.JNE, asm.JGT, asm.JGE, asm.JLT, asm.JLE, asm.JSet, asm.JSGT, asm.JSGE, asm.JSLT, asm.JSLE}

// jumpIf jumps on some condition.
func (g *generator) jumpIf(label string) {
	op, a, b := conditions[g.IntN(len(conditions))], g.source(), g.source()
	n := int32(g.IntN(300) - 50)
	g.emit([]asm.Instruction{
		op.Reg(a, b, label), op.Reg32(a, b, label), op.Imm(a, n, label), op.Imm32(a, n, label),
	}[g.IntN(4)])
}

func (g *generator) body() {
	for range 1 + g.IntN(4) {
		if g.budget > 0 {
			g.statement()
		}
	}
}

func (g *generator) branch() {
	other, end := g.label(), g.label()
	g.jumpIf(other)
	before := g.defined
	g.body()
	after := g.defined
	if g.IntN(2) == 0 {
		g.place(other)
		g.defined = before & after
		return
	}
	if g.level >= linux69 && g.IntN(3) == 0 {
		g.emit(asm.LongJump(end))
	} else {
		g.emit(asm.Ja.Label(end))
	}
	g.place(other)
	g.defined = before
	g.body()
	g.place(end)
	g.defined &= after
}

// loop counts in a register that no call takes.
func (g *generator) loop() {
	counter, ok := g.any(set(asm.R7, asm.R8, asm.R9) &^ g.locked)
	if !ok || g.loops >= 2 {
		return
	}
	g.loops++
	defer func() { g.loops-- }()
	head, exit := g.label(), g.label()
	rounds := int32(1 + g.IntN(6/g.loops))
	g.emit(asm.Mov.Imm(counter, 0))
	g.defined |= set(counter)
	g.locked |= set(counter)
	entry, atExit := g.defined, g.defined
	g.exits, g.exitSet = append(g.exits, exit), append(g.exitSet, &atExit)
	g.place(head)
	g.emit(asm.Add.Imm(counter, 1))
	g.body()
	g.restore(entry)
	if g.level >= linux69 && g.IntN(3) == 0 {
		atExit &= g.defined
		g.emit(asm.Instruction{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.JCOND), Offset: -1}.WithReference(exit))
	}
	g.emit(asm.JLT.Imm(counter, rounds, head))
	g.place(exit)
	g.defined &= atExit
	g.locked &^= set(counter)
	g.exits, g.exitSet = g.exits[:len(g.exits)-1], g.exitSet[:len(g.exitSet)-1]
}

// jumpOut leaves a loop, or the function.
func (g *generator) jumpOut() {
	if n := len(g.exits); n > 0 {
		g.jumpIf(g.exits[n-1])
		*g.exitSet[n-1] &= g.defined
		return
	}
	on := g.label()
	g.jumpIf(on)
	g.emit(asm.Mov.Imm(asm.R0, 0), asm.Return())
	g.place(on)
}

func (g *generator) callFunction() {
	if !g.canCall() || g.isBack {
		return
	}
	switch {
	case len(g.backs) > 0 && g.IntN(2) == 0:
		load := asm.Instruction{OpCode: asm.LoadImmOp(asm.DWord), Dst: asm.R2, Src: asm.PseudoFunc, Constant: -1}.WithReference(g.backs[0])
		g.emit(asm.Mov.Imm(asm.R1, int32(g.IntN(6))), load,
			asm.Mov.Reg(asm.R3, asm.R10), asm.Add.Imm(asm.R3, -8), asm.Mov.Imm(asm.R4, 0))
		g.call(asm.FnLoop)
	case len(g.calls) > 0:
		for r := asm.R2; r <= asm.R5; r++ {
			if !g.defined.has(r) {
				g.number(r)
			}
		}
		g.emit(asm.Mov.Reg(asm.R1, asm.R6), asm.Call.Label(g.calls[g.IntN(len(g.calls))]))
		g.defined &^= clobbered
	default:
		return
	}
	g.defined |= set(asm.R0)
}

// other is what few programs do.
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
// of operation: without, the kernel gets an addition.
func atomic(op asm.AtomicOp, base, src asm.Register, size asm.Size, off int16) asm.Instruction {
	ins := op.Mem(base, src, size, off)
	ins.Constant = int64(op >> 8)
	return ins
}
