package insn

import (
	"cmp"
	"slices"
)

// Placement says which blocks have a counter.
type Placement int

const (
	// Minimal places as few counters as tell the count of every block, about
	// two for three blocks; the others are derived. Derived counts hold when
	// nothing is being executed.
	Minimal Placement = iota
	// EveryBlock places a counter in every block, so that also counts which are
	// read while a program runs are true ones.
	EveryBlock
)

// Derived is the Counter of a block whose count follows from those of others.
const Derived = -1

// equation derives the count of a block: the sum of some counts less the sum of
// others.
type equation struct {
	block       int
	plus, minus []int
}

// place chooses the blocks that get a counter and returns equations for the
// others, in the order in which they can be solved. avoid is, for each block,
// how much a counter in it is to be avoided.
//
// What flows into a point of the graph flows out of it. If blocks are edges
// between such points, the edges of any spanning tree follow from the rest: so
// the tree is the one of the blocks that are to be avoided most.
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
		// Of the flow that enters a function nothing is known without a counter
		// in a block of no instructions.
		empty := g.blocks[b].Start == g.blocks[b].End
		tree[b] = !empty && joined.union(from[b], to[b])
	}

	counted = make([]bool, len(g.blocks))
	for b := range counted {
		counted[b] = !tree[b]
	}
	return counted, solve(from, to, tree, points)
}

// flowPoints returns the points that each block leads from and to. The ways that
// lead into a block meet the ways that lead out of those before it. All ends of
// a function are one point with its entry: what enters it leaves it.
func flowPoints(g *graph) (from, to []int, points int) {
	// Each block has a point before it (2b) and one behind it (2b+1).
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

// solve returns equations for the blocks of a tree, its leaves first: at a point
// where one block of the tree is left, all other counts are known.
func solve(from, to []int, tree []bool, points int) []equation {
	touching := index(points, func(add func(key, value int)) {
		for b := range from {
			if from[b] != to[b] { // else it flows in as it flows out
				add(from[b], b)
				add(to[b], b)
			}
		}
	})
	unknown := make([]int, points) // how many blocks at a point have no count yet
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
		// What flows the other way at the point adds to the block, what flows its
		// way takes from it.
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

// union makes one set of two, and reports whether they were two.
func (s sets) union(a, b int) bool {
	a, b = s.find(a), s.find(b)
	s[a] = b
	return a != b
}
