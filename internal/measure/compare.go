package measure

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/job"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Comparing is two sides to be compared.
type Comparing struct {
	Options
	Judged
	*sides.Matchup
}

// Compare opens two sides, as the command line names them. The result also carries notes
// if there is an error; it is nil if there are none.
func (o Options) Compare(ctx context.Context, args []string) (*Comparing, error) {
	re, err := compileFilter(o.Filter)
	if err != nil {
		return nil, err
	}
	m, err := sides.Options{
		Command: "compare", Suite: o.File, Filter: re, Shard: o.Shard, Store: o.Store,
		Near: func(head *sides.Side) func(baseline.Meta) bool {
			return Nearest(head, o.File, &o.Machines)
		},
	}.Match(ctx, args)
	if err != nil {
		return nil, err
	}
	c := &Comparing{Options: o, Matchup: m}
	c.Notes = Matched(m)
	if m.Suite == nil {
		if err := o.checkNumbers(); err != nil {
			return c, err
		}
	}
	return c, c.load(o.Limits, ownSuite(m), m.Suite, c.scope, (*thresholds.Policy).OtherMode)
}

// Matched returns notes on what a reader may not expect of a matchup.
func Matched(m *sides.Matchup) []bench.Note {
	notes := bundled(m.Head.Suite)
	if name := suite.Here(); m.MadeUp && name != "" {
		notes = append(notes, bench.Say("each program gets the default workload of its type; use --suite %s for the workloads of the suite in this folder", name))
	}
	if len(m.LeftOut) > 0 {
		notes = append(notes, bench.Say("left out, because neither side has the program: %s", strings.Join(m.LeftOut, ", ")))
	}
	return notes
}

// checkNumbers refuses flags for measuring if nothing is measured.
func (o *Options) checkNumbers() error {
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"suite", o.File != ""}, {"kernel", len(o.Machines.Kernels) > 0}, {"vm", o.Machines.Mode != ""},
		{"shard", o.Shard != nil}, {"budget", o.Budget != 0}, {"seed", o.Seed != 0},
	} {
		if flag.given {
			return fmt.Errorf("--%s: there are no objects to measure, just results", flag.name)
		}
	}
	return nil
}

// ownSuite returns the suite of a comparison with the files that it names, nil if it was
// stored without these.
func ownSuite(m *sides.Matchup) *suite.Suite {
	for _, s := range []*sides.Side{m.Base, m.Head} {
		if s.Runs != nil && s.Suite == m.Suite {
			return nil
		}
	}
	return m.Suite
}

// scope returns what thresholds can apply to.
func (c *Comparing) scope() (thresholds.Scope, error) {
	scope := c.Matchup.Scope()
	if c.Suite == nil {
		return scope, nil
	}
	on, err := Scope(&c.Machines, c.Suite.Kernels)
	scope.Kernels, scope.Modes = on.Kernels, on.Modes
	return scope, err
}

// Measure measures the sides that have objects, and uses the numbers of those that do not.
// After each pair, save gets all comparisons so far.
func (c *Comparing) Measure(ctx context.Context, save func(...*bench.Comparison)) ([]*bench.Comparison, error) {
	label := func(all []*bench.Comparison) {
		for _, one := range all {
			one.Shard, one.Thresholds = c.Shard, c.Judged.Limits
		}
	}
	all, err := c.measure(ctx, func(soFar ...*bench.Comparison) {
		label(soFar)
		save(soFar...)
	})
	label(all)
	return all, err
}

func (c *Comparing) measure(ctx context.Context, save func(...*bench.Comparison)) ([]*bench.Comparison, error) {
	if c.Suite == nil {
		return c.Matchup.Compare(), nil
	}
	if kernels := c.Machines.Choose(c.Suite.Kernels); len(kernels) > 0 {
		on, err := c.Machines.Open(c.Watch, kernels)
		if err != nil {
			return nil, err
		}
		return job.Options{Budget: c.Budget, Seed: c.Seed, ByDefault: c.Machines.ByDefault(c.Suite.Kernels), Done: c.done("compared")}.Comparisons(ctx, on, kernels, c.Matchup, save)
	}
	one, err := c.onHost(ctx, save)
	if one == nil {
		return nil, err
	}
	return []*bench.Comparison{one}, err
}

// onHost measures both sides on this machine.
func (c *Comparing) onHost(ctx context.Context, save func(...*bench.Comparison)) (*bench.Comparison, error) {
	warned := false
	o := runner.Options{Budget: c.Budget, Seed: c.Seed, Tool: c.Tool, PlanLoads: c.Policy.PlanLoads(c.Total)}
	o.SavePair = func(soFar *bench.Comparison) error {
		now := *soFar
		now.Testbed.Asked, now.Partial = fleet.Host, true
		c.Name(&now)
		save(&now)
		return nil
	}
	compare := func(ctx context.Context, pairs []runner.PairJob, o runner.Options) (*bench.Comparison, error) {
		if warned {
			c.Watch.Tell(bench.Say("%s to be measured a second time", unit.Plural(len(pairs), "benchmark")))
		}
		warned = true
		o.Progress = c.Watch.Pairs(len(pairs))
		return runner.Compare(ctx, pairs, o)
	}
	one, err := runner.Comparer(compare).Twice(ctx, c.Pairs, o, c.Policy.Flagged)
	if one != nil {
		one.Testbed.Asked = fleet.Host
		c.Name(one)
	}
	return one, err
}

// Nothing reports whether a shard has no benchmarks.
func (c *Comparing) Nothing() bool { return c.Suite != nil && len(c.Pairs) == 0 }

// Empty returns the comparison of a shard without benchmarks, and a note about it.
func (c *Comparing) Empty() (*bench.Comparison, bench.Note) {
	one := &bench.Comparison{Tool: c.Tool, Shard: c.Shard, Thresholds: c.Judged.Limits, Started: time.Now().UTC().Truncate(time.Second)}
	c.Name(one)
	return one, c.nothing(c.Total)
}

// Elsewhere returns notes on stored runs from another testbed than the comparison's: their
// numbers are never compared with this one's. If there are objects, these were measured
// here instead.
func (c *Comparing) Elsewhere(comparisons []*bench.Comparison) (notes []bench.Note) {
	for _, s := range []*sides.Side{c.Base, c.Head} {
		if s.Runs == nil || !slices.ContainsFunc(comparisons, s.Foreign) {
			continue
		}
		where := baseline.Machine(s.Runs[0].Testbed)
		switch {
		case c.Suite != nil:
			notes = append(notes, bench.Say("%s was measured on another testbed (%s): its objects are measured again, and its numbers not used", s.Name, where))
		case s == c.Base:
			n := bench.Warn("%s was measured on another testbed (%s) than %s: their numbers are not compared", s.Name, where, c.Head.Name)
			n.Hint = "give objects on both sides, such as a run that is saved in the baseline: they are measured here"
			notes = append(notes, n)
		}
	}
	return notes
}
