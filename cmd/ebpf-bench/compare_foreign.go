package main

import (
	"slices"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// sayForeign says what became of the numbers of a run that was stored on another
// testbed than the comparison is of: they are never compared with those of this
// one. Where there are objects, these were measured here instead.
func sayForeign(t *ui.Terminal, m *sides.Matchup, comparisons []*bench.Comparison) {
	for _, s := range []*sides.Side{m.Base, m.Head} {
		if s.Runs == nil || !slices.ContainsFunc(comparisons, s.Foreign) {
			continue
		}
		where := baseline.Machine(s.Runs[0].Testbed)
		switch {
		case m.Suite != nil:
			t.Say("%s was measured on another testbed (%s): its objects are measured again, and its numbers not used", s.Name, where)
		case s == m.Base:
			t.Warn("%s was measured on another testbed (%s) than %s: their numbers are not compared", s.Name, where, m.Head.Name)
			t.Hint("give objects on both sides, such as a run that is saved in the baseline: they are measured here")
		}
	}
}
