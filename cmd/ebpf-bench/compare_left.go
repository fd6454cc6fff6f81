package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// notCompared names the benchmarks that comparisons which were cut short did not
// come to, or not far enough for a figure.
func notCompared(m *matchup, comparisons []*bench.Comparison) error {
	var left []string
	for _, c := range comparisons {
		for _, p := range m.pairs {
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
