package sides

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// checkModes refuses runs of different modes: instructions are not nanoseconds,
// and the figures of a virtual machine are not those of a host.
func (m *Matchup) checkModes() error {
	for _, head := range m.Head.Runs {
		if base := counterpart(head, m.Base.Runs); base.Testbed.Mode != head.Testbed.Mode {
			return bench.WithHint(
				fmt.Errorf("%s was measured in %s mode and %s in %s mode: these are never compared", m.Base.Name, base.Testbed.Mode, m.Head.Name, head.Testbed.Mode),
				"measure both in one mode, by --kernel and --vm of ebpf-bench run; or give objects on both sides")
		}
	}
	return nil
}

// Compare compares the numbers of runs: each run of the head with the base's
// run in the same mode, on the same kernel if there is one. A remaining run of
// the base is compared with nothing. Whether such numbers may be compared is
// judged later.
func (m *Matchup) Compare() []*bench.Comparison {
	var all []*bench.Comparison
	compared := map[*bench.Run]bool{}
	add := func(base, head *bench.Run) {
		compared[base] = true
		c := &bench.Comparison{
			Tool: head.Tool, Started: head.Started,
			Testbed: head.Testbed, BaseTestbed: &base.Testbed,
			Elapsed: base.Elapsed + head.Elapsed, Seed: head.Seed, Partial: base.Partial || head.Partial,
			MissingKernels: head.MissingKernels,
			Pairs:          m.filter.pairs(pairResults(base, head)),
		}
		m.Name(c)
		if len(c.Pairs) > 0 {
			all = append(all, c)
		}
	}
	for _, head := range m.Head.Runs {
		add(counterpart(head, m.Base.Runs), head)
	}
	for _, base := range m.Base.Runs {
		if !compared[base] {
			left := *base
			left.Results = nil
			add(base, &left)
		}
	}
	return all
}

// nameFilter passes the benchmarks whose names match; nil passes all.
type nameFilter struct{ *regexp.Regexp }

func (f nameFilter) pairs(pairs []bench.Pair) []bench.Pair {
	return slices.DeleteFunc(pairs, func(p bench.Pair) bool { return f.Regexp != nil && !f.MatchString(p.Benchmark) })
}

// check refuses a filter that passes nothing.
func (f nameFilter) check(sides ...*Side) error {
	var names []string
	for _, s := range sides {
		for _, run := range s.Runs {
			for _, r := range run.Results {
				if f.Regexp == nil || f.MatchString(r.Benchmark) {
					return nil
				}
				names = unit.AppendNew(names, r.Benchmark)
			}
		}
	}
	return bench.WithHint(fmt.Errorf("no benchmark matches %q", f), "there are: "+strings.Join(names, ", "))
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

// Foreign reports whether all runs of a side are from another testbed than a
// comparison.
func (s *Side) Foreign(c *bench.Comparison) bool {
	return !slices.ContainsFunc(s.Runs, func(run *bench.Run) bool { return baseline.Key(run.Testbed) == baseline.Key(c.Testbed) })
}
