package insn

import "github.com/cilium/ebpf/asm"

// held are the registers that a function does not use and that calls keep, R6 to
// R9: they hold what its counters need from the entry on, so that a counter is
// but one instruction if two are free, instead of three. That is less for the
// verifier to walk.
type held struct {
	address, one asm.Register
	n            int // how many of them: the address first
}

// maxHeld is how many counters one address reaches: offsets have 15 bits and a
// sign.
const maxHeld = (1 << 15) / counterSize

// hold finds out what each function can hold. A function of one block has at most
// one counter, which gains nothing.
func hold(l *liveness) []held {
	g := l.graph
	all := make([]held, len(g.functions))
	for f, fn := range g.functions {
		if blocks := g.begin[f+1] - g.begin[f]; blocks < 2 || blocks > maxHeld {
			continue
		}
		var used registers
		for i := fn.Start; i < fn.End; i++ {
			reads, writes := l.effect(i)
			used |= reads | writes
		}
		free := pick(allRegisters &^ scratchRegisters &^ used)
		h := held{n: len(free)}
		if h.n > 0 {
			h.address = free[0]
		}
		if h.n > 1 {
			h.one = free[1]
		}
		all[f] = h
	}
	return all
}

// registers are those that are held.
func (h held) registers() []asm.Register {
	return []asm.Register{h.address, h.one}[:h.n]
}

func (h held) set() registers {
	var s registers
	for _, r := range h.registers() {
		s |= only(r)
	}
	return s
}
