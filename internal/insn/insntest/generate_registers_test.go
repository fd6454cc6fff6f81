package insntest_test

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
)

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
		// Two labels at one place need an instruction in between.
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

// target returns a register to write to.
func (g *generator) target() asm.Register {
	r, _ := g.any(numbers &^ g.locked)
	return r
}

// source returns a register that holds a number.
func (g *generator) source() asm.Register {
	if r, ok := g.any(g.defined); ok {
		return r
	}
	r := g.target()
	g.number(r)
	return r
}

// number puts a number into a register.
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

// free returns a register for a pointer, which must not be used as a number.
func (g *generator) free(not regs) (asm.Register, bool) {
	return g.any(numbers &^ g.locked &^ not)
}

func (g *generator) leave(isBack bool) {
	if isBack {
		// Most of the time, all of these make the loop continue.
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
