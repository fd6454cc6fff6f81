package insn

import "github.com/cilium/ebpf/asm"

// needed is how many registers a counter uses.
const needed = 2

// site is the instruction of a block before which the counter goes. A block is
// executed as a whole, so any instruction will do.
type site struct {
	index int
	live  registers // what may be read from there on
}

// dead returns the registers that may be overwritten at a site.
func (s site) dead() registers { return allRegisters &^ s.live }

// preference is the order in which dead registers are used. Those that calls
// clobber come first: values left in the others make states of a loop differ
// that the verifier would otherwise consider equal.
var preference = [...]asm.Register{
	asm.R0, asm.R5, asm.R4, asm.R3, asm.R2, asm.R1, asm.R9, asm.R8, asm.R7, asm.R6,
}

// saves returns how many registers must be saved for a counter at a site.
func (s site) saves() int { return max(0, needed-s.dead().len()) }

// cost grades a site; less is better.
func (s site) cost() int {
	if (s.dead() & scratchRegisters).len() >= needed {
		return 0
	}
	return 1 + s.saves()
}

// sites finds the best place for a counter in each block, the first among
// equals.
func sites(l *liveness) []site {
	g := l.graph
	all := make([]site, len(g.blocks))
	for b := range g.blocks {
		block := &g.blocks[b]
		all[b] = site{block.Start, l.in[b]}
		if all[b].cost() == 0 {
			continue
		}
		live := l.out[b]
		for i := block.End - 1; i >= block.Start; i-- {
			reads, writes := l.effect(i)
			live = reads | live&^writes
			if s := (site{i, live}); s.cost() <= all[b].cost() {
				all[b] = s
			}
		}
	}
	return all
}
