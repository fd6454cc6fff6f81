package job

import (
	"context"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Comparer is runner.Compare, or what shows how far it is.
type Comparer func(context.Context, []runner.PairJob, runner.Options) (*bench.Comparison, error)

// Twice compares, and measures what looks changed again from the start,
// so that one unlucky measurement raises no alarm. What is saved after each pair is the
// comparison so far, with what was measured again.
func Twice(ctx context.Context, pairs []runner.PairJob, o runner.Options, policy *thresholds.Policy, compare Comparer) (*bench.Comparison, error) {
	c, err := compare(ctx, pairs, o)
	if err != nil {
		return nil, err
	}
	flagged := policy.Flagged(c)
	again := slices.DeleteFunc(slices.Clone(pairs), func(p runner.PairJob) bool { return !slices.Contains(flagged, p.Name()) })
	if len(again) == 0 || ctx.Err() != nil {
		return c, nil
	}
	// In another order, or the same chance could strike twice.
	o.Seed = c.Seed + 1
	if save := o.SavePair; save != nil {
		o.SavePair = func(second *bench.Comparison) error {
			soFar := *c
			soFar.Confirmed = second.Pairs
			return save(&soFar)
		}
	}
	second, err := compare(ctx, again, o)
	if second != nil {
		c.Confirmed = second.Pairs
		c.Elapsed += second.Elapsed
		c.Partial = second.Partial
	}
	return c, err
}

// PlanLoads says how many loads a benchmark of a comparison wants: enough to
// tell half of what its threshold allows.
func PlanLoads(policy *thresholds.Policy, tests int) func(*bench.Pair) int {
	return func(pilot *bench.Pair) int {
		plan, err := stat.PlanLoads(pilot, bench.Latency.Name, policy.Target(pilot.Benchmark, tests))
		if err != nil {
			return 0
		}
		return plan.Loads
	}
}
