package insn

import (
	"cmp"
	"slices"
)

// Placement selects the blocks that get a counter.
type Placement int

const (
	// Minimal places just enough counters to derive the count of every block,
	// about two for three blocks. Derived counts are valid only while nothing
	// is being executed.
	Minimal Placement = iota
	// EveryBlock places a counter in every block, so that counts read while a
	// program runs are valid, too.
	EveryBlock
)

// Derived is the Counter of a block whose count follows from those of others.
const Derived = -1

// equation derives the count of a block: the sum of some counts minus the sum
// of others.
type equation struct {
	block       int
	plus, minus []int
}

func (e equation) solve(counts []uint64) (n uint64) {
	for _, b := range e.plus {
		n += counts[b]
	}
	for _, b := range e.minus {
		n -= counts[b]
	}
	return n
}

// place chooses the blocks that get a counter and returns equations for the
// others, in the order in which they can be solved. avoid has, for each block,
// how much to avoid a counter in it.
//
// The flow into a point of the graph equals the flow out of it. With blocks as
// edges between such points, the edges of any spanning tree follow from the
// rest. So place chooses the tree of the blocks to avoid most.
//
// Source: D. E. Knuth and F. R. Stevenson, Optimal measurement points for program
// frequency counts, BIT 13 (1973).
func place(g *graph, avoid []float64) (counted []bool, equations []equation) {
	from, to, points := flowPoints(g)

	order := make([]int, len(g.blocks))
	for b := range order {
		order[b] = b
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(avoid[b], avoid[a]) })

	tree := make([]bool, len(g.blocks))
	joined := newSets(points)
	for _, b := range order {
		// Without a counter in a block of no instructions, the flow into a
		// function would be unknown.
		empty := g.blocks[b].Start == g.blocks[b].End
		tree[b] = !empty && joined.union(from[b], to[b])
	}

	counted = make([]bool, len(g.blocks))
	for b := range counted {
		counted[b] = !tree[b]
	}
	return counted, solve(from, to, tree, points)
}

// flowPoints returns the points that each block leads from and to. The paths
// into a block meet the paths out of its predecessors. All ends of a function
// are one point with its entry, because whatever enters it leaves it.
func flowPoints(g *graph) (from, to []int, points int) {
	// Each block has a point before it (2b) and one after it (2b+1).
	ends := 2 * len(g.blocks)
	points = ends + len(g.functions)
	same := newSets(points)
	for b := range g.blocks {
		for _, s := range g.after(b) {
			same.union(2*b+1, 2*s)
		}
		if g.leaves[b] {
			same.union(2*b+1, ends+g.blocks[b].Function)
		}
		if g.blocks[b].Entry {
			same.union(2*b, ends+g.blocks[b].Function)
		}
	}
	from, to = make([]int, len(g.blocks)), make([]int, len(g.blocks))
	for b := range g.blocks {
		from[b], to[b] = same.find(2*b), same.find(2*b+1)
	}
	return from, to, points
}

// solve returns equations for the blocks of a tree, leaves first: at a point
// with one unsolved block of the tree, all other counts are known.
func solve(from, to []int, tree []bool, points int) []equation {
	touching := index(points, func(add func(key, value int)) {
		for b := range from {
			if from[b] != to[b] { // otherwise its flow cancels out
				add(from[b], b)
				add(to[b], b)
			}
		}
	})
	unknown := make([]int, points) // how many blocks at a point lack a count
	for b := range from {
		if tree[b] {
			unknown[from[b]]++
			unknown[to[b]]++
		}
	}

	var leaves []int
	for p, n := range unknown {
		if n == 1 {
			leaves = append(leaves, p)
		}
	}
	known := make([]bool, len(tree))
	for b := range known {
		known[b] = !tree[b]
	}
	var equations []equation
	terms := make([]int, 0, len(touching.values))
	for ; len(leaves) > 0; leaves = leaves[1:] {
		p := leaves[0]
		if unknown[p] != 1 {
			continue // solved from its other end
		}
		left := none
		for _, b := range touching.of(p) {
			if !known[b] {
				left = b
			}
		}
		// Flow in the other direction at the point adds to the block, flow in
		// its direction subtracts from it.
		gather := func(sameWay bool) []int {
			start := len(terms)
			for _, b := range touching.of(p) {
				if b != left && ((to[b] == p) == (to[left] == p)) == sameWay {
					terms = append(terms, b)
				}
			}
			return terms[start:len(terms):len(terms)]
		}
		e := equation{block: left, plus: gather(false), minus: gather(true)}
		other := to[left]
		if to[left] == p {
			other = from[left]
		}
		equations = append(equations, e)
		known[left] = true
		unknown[p]--
		if unknown[other]--; unknown[other] == 1 {
			leaves = append(leaves, other)
		}
	}
	return equations
}

// sets are disjoint sets of numbers from 0 on.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (s sets) find(x int) int {
	for s[x] != x {
		s[x] = s[s[x]]
		x = s[x]
	}
	return x
}

// union merges two sets, and reports whether they were distinct.
func (s sets) union(a, b int) bool {
	a, b = s.find(a), s.find(b)
	s[a] = b
	return a != b
}
