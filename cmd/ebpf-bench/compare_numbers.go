package main

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// checkModes refuses runs of different modes: instructions are no nanoseconds,
// and those of a virtual machine are not those of a host.
func (m *matchup) checkModes() error {
	for _, head := range m.head.runs {
		if base := counterpart(head, m.base.runs); base.Testbed.Mode != head.Testbed.Mode {
			return bench.WithHint(
				fmt.Errorf("%s was measured in %s mode and %s in %s mode: these are never compared", m.base.Name, base.Testbed.Mode, m.head.Name, head.Testbed.Mode),
				"measure both in one mode, by --kernel and --vm of ebpf-bench run; or give objects on both sides")
		}
	}
	return nil
}

// storedComparisons compares the numbers of runs: each run of the head with
// that of the base in the same mode, on the same kernel if there is one.
// Whether such numbers may be compared is judged later.
func storedComparisons(m *matchup) []*bench.Comparison {
	var all []*bench.Comparison
	for _, head := range m.head.runs {
		base := counterpart(head, m.base.runs)
		c := &bench.Comparison{
			Version: bench.ComparisonVersion, Tool: head.Tool, Started: head.Started,
			Testbed: head.Testbed, BaseTestbed: &base.Testbed,
			Elapsed: base.Elapsed + head.Elapsed, Seed: head.Seed, Partial: base.Partial || head.Partial,
			Pairs: pairResults(base, head),
		}
		m.name(c)
		all = append(all, c)
	}
	return all
}

func counterpart(head *bench.Run, runs []*bench.Run) *bench.Run {
	best, points := runs[0], -1
	for _, run := range runs {
		p := 0
		if run.Testbed.Mode == head.Testbed.Mode {
			p += 2
		}
		if run.Testbed.Kernel == head.Testbed.Kernel {
			p++
		}
		if p > points {
			best, points = run, p
		}
	}
	return best
}

func pairResults(base, head *bench.Run) []bench.Pair {
	rest := map[string]*bench.Result{}
	for i := range base.Results {
		rest[base.Results[i].Benchmark] = &base.Results[i]
	}
	var pairs []bench.Pair
	for i := range head.Results {
		r := &head.Results[i]
		pairs = append(pairs, bench.Pair{Benchmark: r.Benchmark, Base: rest[r.Benchmark], Head: r})
		delete(rest, r.Benchmark)
	}
	for i := range base.Results {
		if r := &base.Results[i]; rest[r.Benchmark] != nil {
			pairs = append(pairs, bench.Pair{Benchmark: r.Benchmark, Base: r})
		}
	}
	return pairs
}
