package main

import (
	"slices"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// sayForeign says what became of the numbers of a run that was stored on another
// testbed than the comparison is of: they are never compared with those of this
// one. Where there are objects, these were measured here instead.
func (m *matchup) sayForeign(t *ui.Terminal, comparisons []*bench.Comparison) {
	for _, s := range []*side{m.base, m.head} {
		if s.runs == nil || !slices.ContainsFunc(comparisons, s.foreign) {
			continue
		}
		where := baseline.Machine(s.runs[0].Testbed)
		switch {
		case m.suite != nil:
			t.Say("%s was measured on another testbed (%s): its objects are measured again, and its numbers not used", s.Name, where)
		case s == m.base:
			t.Warn("%s was measured on another testbed (%s) than %s: their numbers are not compared", s.Name, where, m.head.Name)
			t.Hint("give objects on both sides, such as a run that is saved in the baseline: they are measured here")
		}
	}
}

// foreign tells whether all runs of a side are of another testbed than a
// comparison.
func (s *side) foreign(c *bench.Comparison) bool {
	return !slices.ContainsFunc(s.runs, func(run *bench.Run) bool { return baseline.Key(run.Testbed) == baseline.Key(c.Testbed) })
}
