package insn

import (
	"math/rand/v2"
	"testing"
)

// cfg makes a graph of blocks from their successors. The last successor leads
// towards the end; a block without successors leaves.
func cfg(after ...[]int) *graph {
	g := &graph{functions: []Function{{Name: "main", End: len(after)}}, begin: []int{0, len(after)}, first: []int{0}}
	for b, s := range after {
		g.blocks = append(g.blocks, Block{Start: b, End: b + 1, Entry: b == 0, Counter: Derived})
		g.leaves = append(g.leaves, len(s) == 0)
		g.successors = append(g.successors, s...)
		g.first = append(g.first, len(g.successors))
	}
	return g
}

// walk counts the blocks of some runs through a graph.
func walk(g *graph, r *rand.Rand, runs int) []uint64 {
	counts := make([]uint64, len(g.blocks))
	for range runs {
		for b, steps := 0, 0; ; steps++ {
			counts[b]++
			after := g.after(b)
			if g.leaves[b] && (len(after) == 0 || r.IntN(2) == 0) {
				break
			}
			// Jumps back become rarer, so that runs end.
			b = after[min(len(after)-1, r.IntN(len(after)+steps/10))]
		}
	}
	return counts
}

// derives returns which counts the counters get wrong, and how many counters
// there are.
func derives(g *graph, counts []uint64, avoid []float64) (wrong []int, counters int) {
	counted, equations := place(g, avoid)
	p := &Program{Blocks: g.blocks, equations: equations}
	var raw []uint64
	for b := range g.blocks {
		p.Blocks[b].Counter = Derived
		if counted[b] {
			p.Blocks[b].Counter = len(raw)
			raw = append(raw, counts[b])
		}
	}
	got := make([]uint64, len(g.blocks))
	p.resolve(raw, got)
	for b := range got {
		if got[b] != counts[b] {
			wrong = append(wrong, b)
		}
	}
	return wrong, len(raw)
}

func TestPlacement(t *testing.T) {
	for name, c := range map[string]struct {
		graph    *graph
		counters int
	}{
		"one block":         {cfg(nil), 1},
		"a chain":           {cfg([]int{1}, []int{2}, nil), 1},
		"if":                {cfg([]int{1, 2}, []int{2}, nil), 2},
		"if and else":       {cfg([]int{1, 2}, []int{3}, []int{3}, nil), 2},
		"a loop":            {cfg([]int{1}, []int{1, 2}, nil), 2},
		"a loop with a way": {cfg([]int{1}, []int{2, 3}, []int{1}, nil), 2},
		"nested loops":      {cfg([]int{1}, []int{2}, []int{2, 3}, []int{1, 4}, nil), 3},
		"two ends":          {cfg([]int{1, 2}, nil, nil), 2},
	} {
		counts := walk(c.graph, rand.New(rand.NewPCG(1, 2)), 100)
		wrong, counters := derives(c.graph, counts, make([]float64, len(counts)))
		if len(wrong) > 0 || counters != c.counters {
			t.Errorf("%s: %d counters, want %d; wrong counts in blocks %v", name, counters, c.counters, wrong)
		}
	}
}

// Whatever the graph and the weights, the counters determine all counts.
func TestPlacementOfAnyGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	blocks, counters := 0, 0
	for range 2000 {
		n := 1 + r.IntN(30)
		after := make([][]int, n)
		for b := range n - 1 {
			after[b] = []int{r.IntN(n), b + 1}[r.IntN(2):] // the last one makes the end reachable
		}
		g := cfg(after...)
		for b := range g.leaves {
			g.leaves[b] = g.leaves[b] || r.IntN(10) == 0
		}
		weights := make([]float64, n)
		for b := range weights {
			weights[b] = float64(r.IntN(5))
		}
		// A jump to the first block is another entry only if the entry is a
		// separate block.
		for b := range g.successors {
			if g.successors[b] == 0 {
				g.successors[b] = min(1, n-1)
			}
		}
		counts := walk(g, r, 20)
		wrong, k := derives(g, counts, weights)
		if len(wrong) > 0 {
			t.Fatalf("blocks %v of %v (leaves %v) have wrong counts", wrong, after, g.leaves)
		}
		// A run that began is not whole before it ends. It could end after the
		// first block if its flow leads back to where it comes from.
		from, to, _ := flowPoints(g)
		_, p := place(g, weights)
		c := &Counts{table: &Table{Programs: []*Program{{equations: p}}}, blocks: [][]uint64{counts}}
		if !c.Whole() {
			t.Fatalf("whole runs through %v (leaves %v) are not whole", after, g.leaves)
		}
		if counts[0]++; c.Whole() != (from[0] == to[0]) {
			t.Fatalf("part of a run through %v (leaves %v) is whole: %t", after, g.leaves, c.Whole())
		}
		blocks += n
		counters += k
	}
	t.Logf("%d counters for %d blocks", counters, blocks)
}

func TestWhatIsToBeAvoidedIsDerived(t *testing.T) {
	// Either of the two arms may be derived.
	g := cfg([]int{1, 2}, []int{3}, []int{3}, nil)
	for arm := 1; arm <= 2; arm++ {
		avoid := make([]float64, 4)
		avoid[arm] = 5
		if counted, _ := place(g, avoid); counted[arm] {
			t.Errorf("block %d has a counter though it is to be avoided", arm)
		}
	}
}
