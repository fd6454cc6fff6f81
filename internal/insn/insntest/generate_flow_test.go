package insntest_test

import (
	"github.com/cilium/ebpf/asm"
)

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

// loop counts in a register that no call clobbers.
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
