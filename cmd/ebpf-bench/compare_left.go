package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// notCompared names the benchmarks that comparisons which were cut short did not
// come to, or not far enough for a figure.
func notCompared(m *sides.Matchup, comparisons []*bench.Comparison) error {
	var left []string
	for _, c := range comparisons {
		for _, p := range m.Pairs {
			if c.Partial && !measured(c, p.Name()) {
				left = unit.AppendNew(left, p.Name())
			}
		}
	}
	if len(left) == 0 {
		return nil
	}
	return exit.NoMeasure(fmt.Errorf("not compared: %s", strings.Join(left, ", ")))
}

// measured tells whether a comparison has a benchmark, or says why not.
func measured(c *bench.Comparison, benchmark string) bool {
	ended := func(r *bench.Result) bool {
		return r == nil || r.Error != "" || r.Driver == bench.DriverVerify || r.Rounds.Runs() > 0
	}
	return slices.ContainsFunc(c.Pairs, func(p bench.Pair) bool {
		return p.Benchmark == benchmark && ended(p.Base) && ended(p.Head)
	})
}

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
