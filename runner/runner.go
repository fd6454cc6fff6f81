// Package runner measures a suite: it loads the programs, attaches them, lets
// their workloads drive them in many short interleaved rounds, and reads what
// the kernel charged them. It judges nothing and prints nothing.
package runner

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/cilium/ebpf/rlimit"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/thread"
)

// Options are how long and in which order to measure. The zero value measures
// each benchmark for its budget.
type Options struct {
	// Tool is the version of the tool, for the record.
	Tool string
	// Rounds is the number of rounds of each benchmark; 0 takes as many as
	// its budget allows.
	Rounds int
	// Budget replaces the measuring time of every benchmark.
	Budget time.Duration
	// Seed is the seed of the order of the rounds; 0 draws one.
	Seed uint64
	// Loads is how often the objects are loaded afresh, because where the JIT
	// puts a program changes its cost a little for the life of that load;
	// 0 is DefaultLoads.
	Loads int
	// Mode is how the kernel is run. In bench.ModeExact the clock counts
	// instructions: there is one load and a fixed number of rounds, and the
	// measures are exact.
	Mode bench.Mode
	// Progress is told how far the measuring phase is. It may be nil.
	Progress Progress
	// Save is given the results so far after each load. It may be nil.
	Save func(*bench.Run) error
	// SavePair is given a comparison so far after each pair. It may be nil.
	SavePair func(*bench.Comparison) error
	// PlanLoads says how many loads a comparison wants of a benchmark, given
	// rounds of its base against a second load of the base. Nil takes as many
	// as the budget allows.
	PlanLoads func(pilot *bench.Pair) int
}

// DefaultLoads is how often the objects are loaded in a run.
const DefaultLoads = 16

// Progress is told what happens while a plan is measured.
type Progress interface {
	// Start says how many rounds there will be, and about how long these and
	// what they need take.
	Start(rounds int, estimate time.Duration)
	// Round says that one more round is done.
	Round()
	// Done hands over the complete result of one benchmark. A comparison has
	// none to hand over.
	Done(*bench.Result)
}

type silent struct{}

func (silent) Start(int, time.Duration) {}
func (silent) Round()                   {}
func (silent) Done(*bench.Result)       {}

// Measure runs the plan. Benchmarks that fail carry their error in their
// result; an error is returned only when nothing can be measured at all, or,
// with the run, when its results could not be saved. When ctx is cancelled, the run ends with the round and is marked as partial.
func Measure(ctx context.Context, plan *Plan, o Options) (*bench.Run, error) {
	if err := prepare(&o); err != nil {
		return nil, err
	}
	m := newMeasurement(plan, o)
	if err := thread.Own(func() error { return m.run(ctx) }); err != nil {
		return nil, err
	}
	run := m.results()
	for i := range run.Results {
		o.Progress.Done(&run.Results[i])
	}
	return run, m.unsaved
}

// prepare readies the process for measuring and fills in what the options
// leave open.
func prepare(o *Options) error {
	if err := checkPrivileges(); err != nil {
		return err
	}
	// Before Linux 5.11 maps and programs count as locked memory.
	if err := rlimit.RemoveMemlock(); err != nil {
		return fmt.Errorf("lift the limit of locked memory: %w", err)
	}
	switch {
	case o.Mode == bench.ModeExact:
		// Whatever is drawn by chance would be another workload each time.
		o.Loads, o.Seed, o.Rounds = 1, max(o.Seed, 1), cmp.Or(o.Rounds, exactRounds)
	case o.Loads == 0:
		o.Loads = DefaultLoads
	}
	if o.Rounds > 0 {
		// A load without a round would be for nothing.
		o.Loads = min(o.Loads, o.Rounds)
	}
	if o.Seed == 0 {
		// Seeds stay below 2^53, so that a JavaScript reader keeps them exact.
		o.Seed = rand.Uint64N(1<<53-1) + 1
	}
	if o.Progress == nil {
		o.Progress = silent{}
	}
	return nil
}

func checkPrivileges() error {
	missing, err := probe.Capabilities()
	if err != nil {
		return fmt.Errorf("read the process's capabilities: %w", err)
	}
	if len(missing) > 0 {
		return bench.WithHint(fmt.Errorf("missing %s: loading and measuring programs takes privileges", strings.Join(missing, ", ")),
			"run as root, such as with sudo; or count instructions without root by --kernel 6.12; ebpf-bench doctor says what this machine can do")
	}
	return nil
}
