package insn

import (
	"math"
	"slices"
)

// avoid returns for each block how much to avoid a counter in it: most where
// registers have to be saved, then where the verifier passes often. The
// verifier follows every path through a function until it meets a known state,
// so the weight is the number of paths that lead to the block, and more in
// loops.
func avoid(g *graph, sites []site) []float64 {
	const (
		perLoop = 8
		perSave = 1e100
		most    = 1e99
	)
	weights := make([]float64, len(g.blocks))
	ways := make([]float64, len(g.blocks))
	back := make([]bool, len(g.successors))
	for f := range g.functions {
		order := topological(g, f, back)
		depth := loopDepth(g, f, back)
		for _, b := range order {
			if ways[b] == 0 {
				ways[b] = 1
			}
			for n, s := range g.after(b) {
				if !back[g.first[b]+n] {
					ways[s] = min(ways[s]+ways[b], most)
				}
			}
			weights[b] = min(ways[b]*math.Pow(perLoop, float64(depth[b-g.begin[f]])), most) + perSave*float64(sites[b].saves())
		}
	}
	return weights
}

// topological orders the blocks of a function such that each precedes its
// successors, however the compiler laid them out. In back, it marks the edges
// that lead back, by place in the successors.
func topological(g *graph, f int, back []bool) (order []int) {
	first, end := g.begin[f], g.begin[f+1]
	const (
		unseen = iota
		entered
		left
	)
	state := make([]int, end-first)
	next := make([]int, end-first) // which successor to follow
	var path []int
	enter := func(b int) {
		state[b-first] = entered
		path = append(path, b)
	}
	for root := first; root < end; root++ {
		if state[root-first] == unseen {
			enter(root)
		}
		for len(path) > 0 {
			b := path[len(path)-1]
			n := next[b-first]
			if n == len(g.after(b)) {
				state[b-first] = left
				order = append(order, b)
				path = path[:len(path)-1]
				continue
			}
			next[b-first]++
			switch s := g.after(b)[n]; state[s-first] {
			case unseen:
				enter(s)
			case entered:
				back[g.first[b]+n] = true
			}
		}
	}
	slices.Reverse(order)
	return order
}

// loopDepth returns how many loops each block of a function is in. Each target
// of an edge back makes one loop, of all blocks on the paths back to it.
func loopDepth(g *graph, f int, back []bool) []int {
	first, end := g.begin[f], g.begin[f+1]
	ends := make([][]int, end-first) // the blocks from which edges lead back to each block
	before := index(end-first, func(add func(key, value int)) {
		for b := first; b < end; b++ {
			for _, s := range g.after(b) {
				add(s-first, b-first)
			}
		}
	})
	for b := first; b < end; b++ {
		for n, s := range g.after(b) {
			if back[g.first[b]+n] {
				ends[s-first] = append(ends[s-first], b-first)
			}
		}
	}

	depth := make([]int, end-first)
	seen := make([]int, end-first) // the last loop that each block was found in
	for head, pending := range ends {
		if len(pending) == 0 {
			continue
		}
		loop := head + 1
		seen[head] = loop
		depth[head]++
		for len(pending) > 0 {
			b := pending[len(pending)-1]
			pending = pending[:len(pending)-1]
			if seen[b] != loop {
				seen[b] = loop
				depth[b]++
				pending = append(pending, before.of(b)...)
			}
		}
	}
	return depth
}
