// Package runner measures a suite. It loads the programs, attaches them, has
// their workloads drive them in many short interleaved rounds, and reads what
// the kernel charged them. It neither judges nor prints anything.
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

// Options control how long and in which order to measure. The zero value
// measures each benchmark for its budget.
type Options struct {
	// Tool is the version of the tool, which the results record.
	Tool string
	// Rounds is the number of rounds of each benchmark; 0 fits as many as
	// possible into its budget.
	Rounds int
	// Budget, unless zero, replaces the measuring time of every benchmark.
	Budget time.Duration
	// Seed seeds the order of the rounds; 0 draws a seed at random.
	Seed uint64
	// Loads is the number of times the objects are loaded afresh; 0 means
	// DefaultLoads. Where the JIT puts a program changes its cost a little for
	// the life of that load.
	Loads int
	// Mode says how this kernel runs. In bench.ModeExact, which is for a virtual
	// machine whose clock counts instructions, there is one load and a fixed
	// number of rounds, and the measures are exact. On any other machine its
	// figures would be wrong: leave it empty.
	Mode bench.Mode
	// Progress, unless nil, receives the progress of the measuring phase.
	Progress Progress
	// Save, unless nil, is called with the results so far after each load or, when
	// not all benchmarks are loaded at the same time, after each group of them.
	Save func(*bench.Run) error
	// SavePair, unless nil, is called with the comparison so far after each
	// pair.
	SavePair func(*bench.Comparison) error
	// PlanLoads returns how many loads a comparison needs for a benchmark,
	// given rounds of its base against a second load of the base. If it is nil,
	// the comparison takes as many as the budget allows.
	PlanLoads func(pilot *bench.Pair) int
}

// DefaultLoads is the default of Options.Loads.
const DefaultLoads = 16

// Progress receives events while a plan is measured.
type Progress interface {
	// Start announces the number of rounds, and an estimate of how long they
	// and the loads will take. Measure calls it again for each further group of
	// benchmarks, with the number of all rounds as far as known, and the time for
	// that group and those that follow. Compare calls it for each pair, with the
	// rounds and the time of that pair.
	Start(rounds int, estimate time.Duration)
	// Round reports that one more round is done.
	Round()
	// Done reports that there will be no more rounds.
	Done()
}

type silent struct{}

func (silent) Start(int, time.Duration) {}
func (silent) Round()                   {}
func (silent) Done()                    {}

// Measure runs the plan. A benchmark that fails carries its error in its
// result. Measure itself returns an error only when it can measure nothing at
// all or, together with the run, when it could not save the results. When ctx
// is cancelled, the run ends after the current round and is marked as partial.
func Measure(ctx context.Context, plan *Plan, o Options) (*bench.Run, error) {
	if err := prepare(ctx, &o); err != nil {
		return nil, err
	}
	defer o.Progress.Done()
	var m *measurement
	if err := thread.Own(func() error {
		m = newMeasurement(fit(ctx, plan.Jobs, &o), o)
		return m.run(ctx)
	}); err != nil {
		return nil, err
	}
	return m.results(), m.unsaved
}

// prepare readies the process for measuring and fills in the options left open.
func prepare(ctx context.Context, o *Options) error {
	if err := checkPrivileges(); err != nil {
		return err
	}
	if o.Mode != bench.ModeExact { // whose kernel has just booted
		if err := probe.NotStuck(ctx); err != nil {
			return err
		}
	}
	// Before Linux 5.11, maps and programs count as locked memory.
	if err := rlimit.RemoveMemlock(); err != nil {
		return fmt.Errorf("lift the limit of locked memory: %w", err)
	}
	switch {
	case o.Mode == bench.ModeExact:
		// A random seed would make it another workload each time.
		o.Loads, o.Seed, o.Rounds = 1, max(o.Seed, 1), cmp.Or(o.Rounds, exactRounds)
	case o.Loads == 0:
		o.Loads = DefaultLoads
	}
	if o.Rounds > 0 {
		// A load without a round would be wasted.
		o.Loads = min(o.Loads, o.Rounds)
	}
	if o.Seed == 0 {
		// Seeds stay below 2^53 so that a JavaScript reader keeps them exact.
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
