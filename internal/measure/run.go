package measure

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/job"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Selected is a suite with the selected benchmarks.
type Selected struct {
	*suite.Suite
	// All are the benchmarks of the suite, including those that were left out; Total is
	// how many there are in all shards.
	All   []thresholds.Benchmark
	Total int
	Notes []bench.Note
}

// compileFilter reads the value of --filter.
func compileFilter(filter string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(filter)
	var refused *syntax.Error
	if errors.As(err, &refused) {
		return nil, fmt.Errorf("--filter: %q is no regular expression: %s", filter, refused.Code)
	}
	return re, err
}

// Select reads a suite, as suite.Open does, and leaves out benchmarks that do not match or
// are in other shards.
func Select(file, filter string, shard *bench.Shard) (*Selected, error) {
	re, err := compileFilter(filter)
	if err != nil {
		return nil, err
	}
	s, err := suite.Open(file)
	if err != nil {
		return nil, err
	}
	sel := &Selected{Suite: s, All: sides.Benchmarks(s), Notes: bundled(s)}
	if err := s.Filter(re); err != nil {
		return sel, err
	}
	sel.Total = len(s.Benchmarks)
	s.Benchmarks = bench.PartOf(shard, s.Benchmarks)
	return sel, nil
}

// Running is a suite to be measured alone.
type Running struct {
	Options
	Judged
	*Selected
	Plan *runner.Plan
}

// Notes returns the messages to show before anything is measured.
func (r *Running) Notes() []bench.Note {
	return append(slices.Clone(r.Selected.Notes), r.Judged.Notes...)
}

// Run opens a suite to be measured alone. The result also carries notes if there is an
// error; it is nil if there are none.
func (o Options) Run() (*Running, error) {
	sel, err := Select(o.File, o.Filter, o.Shard)
	if sel == nil {
		return nil, err
	}
	r := &Running{Options: o, Selected: sel}
	if err != nil {
		return r, err
	}
	if r.Plan, err = runner.NewPlan(sel.Suite); err != nil {
		return r, err
	}
	return r, r.load(o.Limits, sel.Suite, sel.Suite, func() (thresholds.Scope, error) {
		scope, err := Scope(&o.Machines, sel.Suite.Kernels)
		scope.Benchmarks = sel.All
		return scope, err
	}, (*thresholds.Policy).NothingForARun)
}

// Measure measures on this host, or on each of the requested kernels. After each load,
// write gets all runs so far.
func (r *Running) Measure(ctx context.Context, write func(...*bench.Run) error) ([]*bench.Run, error) {
	label := func(runs []*bench.Run) {
		for _, run := range runs {
			run.Shard, run.Thresholds = r.Shard, r.Judged.Limits
		}
	}
	runs, err := r.measure(ctx, func(soFar ...*bench.Run) error {
		label(soFar)
		return write(soFar...)
	})
	label(runs)
	return runs, err
}

func (r *Running) measure(ctx context.Context, save func(...*bench.Run) error) ([]*bench.Run, error) {
	if kernels := r.Machines.Choose(r.Suite.Kernels); len(kernels) > 0 {
		on, err := r.Machines.Open(r.Watch, kernels)
		if err != nil {
			return nil, err
		}
		return job.Options{Rounds: r.Rounds, Loads: r.Loads, Budget: r.Budget, Seed: r.Seed, ByDefault: r.Machines.ByDefault(r.Suite.Kernels), Done: r.done("measured")}.Runs(ctx, on, kernels, r.Suite, save)
	}
	run, err := runner.Measure(ctx, r.Plan, runner.Options{
		Rounds: r.Rounds, Budget: r.Budget, Seed: r.Seed, Loads: r.Loads,
		Tool:     r.Tool,
		Progress: r.Watch.Run(len(r.Plan.Jobs)),
		Save: func(run *bench.Run) error {
			run.Testbed.Asked = fleet.Host
			_ = save(run) // the error is reported when everything is written
			return nil
		},
	})
	if run == nil {
		return nil, err
	}
	run.Testbed.Asked = fleet.Host
	return []*bench.Run{run}, err
}

// Empty returns the run of a shard without benchmarks, which merge counts as present, and
// a note about it.
func (r *Running) Empty() (*bench.Run, bench.Note) {
	return &bench.Run{Tool: r.Tool, Shard: r.Shard, Thresholds: r.Judged.Limits, Started: time.Now().UTC().Truncate(time.Second)}, r.nothing(r.Total)
}
