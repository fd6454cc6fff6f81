package insn

import (
	"slices"
	"testing"
)

func TestWhatIsToBeAvoided(t *testing.T) {
	for name, c := range map[string]struct {
		graph *graph
		avoid []float64
	}{
		"a chain":        {cfg([]int{1}, []int{2}, nil), []float64{1, 1, 1}},
		"if":             {cfg([]int{1, 2}, []int{2}, nil), []float64{1, 1, 2}},
		"if after if":    {cfg([]int{1, 2}, []int{2}, []int{3, 4}, []int{4}, nil), []float64{1, 1, 2, 2, 4}},
		"a loop":         {cfg([]int{1}, []int{2, 3}, []int{1}, nil), []float64{1, 8, 8, 1}},
		"nested loops":   {cfg([]int{1}, []int{2}, []int{2, 3}, []int{1, 4}, nil), []float64{1, 8, 64, 8, 1}},
		"two jumps back": {cfg([]int{1}, []int{1, 2}, []int{1, 3}, nil), []float64{1, 8, 8, 1}},
		// The order in the bytecode is the compiler's choice: a jump back need
		// not be a loop, and the first block need not lead to the rest.
		"a chain that jumps back":    {cfg([]int{2}, []int{3}, []int{1}, nil), []float64{1, 1, 1, 1}},
		"ifs that jump back":         {cfg([]int{3, 4}, []int{2}, nil, []int{4}, []int{1, 2}), []float64{1, 2, 4, 1, 2}},
		"a loop with its end first":  {cfg([]int{2}, nil, []int{1, 3}, []int{2}), []float64{1, 1, 8, 8}},
		"code that nothing leads to": {cfg([]int{2}, []int{2}, nil), []float64{1, 1, 2}},
	} {
		if got := avoid(c.graph, make([]site, len(c.graph.blocks))); !slices.Equal(got, c.avoid) {
			t.Errorf("%s: %v, want %v", name, got, c.avoid)
		}
	}
}

func TestWhereRegistersAreSavedIsAvoidedMost(t *testing.T) {
	g := cfg([]int{1}, []int{1, 2}, nil)
	got := avoid(g, []site{{live: allRegisters}, {}, {live: allRegisters &^ 1}})
	if got[0] <= got[2] || got[2] <= got[1] {
		t.Errorf("where two, none and one are saved: %v", got)
	}
}
