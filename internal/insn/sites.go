package insn

import (
	"math"

	"github.com/cilium/ebpf/asm"
)

// site is the instruction of a block that the counter goes in front of. The whole
// block is executed or none of it, so any will do.
type site struct {
	index int
	live  registers // what may be read from there on, and what the function holds
	needs int       // how many registers the counter overwrites
}

// dead are the registers that may be overwritten at a site.
func (s site) dead() registers { return allRegisters &^ s.live }

// preference is the order in which dead registers are used. Those that calls
// clobber come first: what a counter leaves in others makes states of a loop
// differ that the verifier would else take for the same.
var preference = [...]asm.Register{
	asm.R0, asm.R5, asm.R4, asm.R3, asm.R2, asm.R1, asm.R9, asm.R8, asm.R7, asm.R6,
}

// pick returns up to two registers of a set.
func pick(s registers) []asm.Register {
	picked := make([]asm.Register, 0, 2)
	for _, r := range preference {
		if s.has(r) && len(picked) < 2 {
			picked = append(picked, r)
		}
	}
	return picked
}

// saves is how many registers must be saved to bump a counter at a site.
func (s site) saves() int { return max(0, s.needs-s.dead().len()) }

// cost grades a site; less is better.
func (s site) cost() int {
	if (s.dead() & scratchRegisters).len() >= s.needs {
		return 0
	}
	return 1 + s.saves()
}

// sites finds the best place for a counter in each block: the first of those that
// are equally good.
func sites(l *liveness, holds []held) []site {
	g := l.graph
	all := make([]site, len(g.blocks))
	for b := range g.blocks {
		block := &g.blocks[b]
		h := holds[block.Function]
		needs := 2 - h.n
		all[b] = site{block.Start, l.in[b] | h.set(), needs}
		if all[b].cost() == 0 {
			continue
		}
		live := l.out[b]
		for i := block.End - 1; i >= block.Start; i-- {
			reads, writes := l.effect(i)
			live = reads | live&^writes
			if s := (site{i, live | h.set(), needs}); s.cost() <= all[b].cost() {
				all[b] = s
			}
		}
	}
	return all
}

// avoid says of each block how much a counter in it is to be avoided: most where
// registers have to be saved, then where the verifier comes by often. It follows
// every way through a function until it meets a state that it knows: so that is
// the number of ways that lead to the block, more in loops.
func avoid(g *graph, sites []site) []float64 {
	const (
		perLoop = 8
		perSave = 1e100
		most    = 1e99
	)
	weights := make([]float64, len(g.blocks))
	ways := make([]float64, len(g.blocks))
	depth := loopDepth(g)
	for b := range g.blocks {
		if ways[b] == 0 {
			ways[b] = 1
		}
		for _, s := range g.after(b) {
			if s > b {
				ways[s] = min(ways[s]+ways[b], most)
			}
		}
		weights[b] = min(ways[b]*math.Pow(perLoop, float64(depth[b])), most) + perSave*float64(sites[b].saves())
	}
	return weights
}

// loopDepth is how many loops each block is in. A jump back is taken for a loop
// over all that lies between.
func loopDepth(g *graph) []int {
	depth := make([]int, len(g.blocks)+1)
	for b := range g.blocks {
		for _, s := range g.after(b) {
			if s <= b {
				depth[s]++
				depth[b+1]--
			}
		}
	}
	for b := 1; b < len(depth); b++ {
		depth[b] += depth[b-1]
	}
	return depth
}
