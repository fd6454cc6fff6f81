package main

import (
	"context"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

// onHost measures both sides on this machine.
func (f *compareFlags) onHost(ctx context.Context, t *ui.Terminal, m *sides.Matchup, policy *thresholds.Policy) (*bench.Comparison, error) {
	said := false
	c, err := measureTwice(ctx, m.Pairs, runner.Options{Budget: f.budget, Seed: f.seed, Tool: version(), PlanLoads: planLoads(policy, m.Total)}, policy,
		func(ctx context.Context, pairs []runner.PairJob, o runner.Options) (*bench.Comparison, error) {
			if said {
				t.Say("%s to be measured a second time", unit.Plural(len(pairs), "benchmark"))
			}
			said = true
			o.Progress = newPairProgress(t, len(pairs))
			defer o.Progress.Done(nil)
			return runner.Compare(ctx, pairs, o)
		})
	if c != nil {
		c.Testbed.Asked = hostKernel
		m.Name(c)
	}
	return c, err
}

// comparer is runner.Compare, or what shows how far it is.
type comparer func(context.Context, []runner.PairJob, runner.Options) (*bench.Comparison, error)

// measureTwice compares, and measures what looks changed again from the start,
// so that one unlucky measurement raises no alarm.
func measureTwice(ctx context.Context, pairs []runner.PairJob, o runner.Options, policy *thresholds.Policy, compare comparer) (*bench.Comparison, error) {
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
	second, err := compare(ctx, again, o)
	if second != nil {
		c.Confirmed = second.Pairs
		c.Elapsed += second.Elapsed
		c.Partial = second.Partial
	}
	return c, err
}

// onKernels compares on each kernel, as many at a time as there are CPUs. A
// kernel on which nothing was measured has no comparison; what went wrong is
// the error.
func (f *compareFlags) onKernels(ctx context.Context, t *ui.Terminal, m *sides.Matchup, kernels []string) ([]*bench.Comparison, error) {
	vms, err := f.machines.Open(t, kernels)
	if err != nil {
		return nil, err
	}
	return fleet.Each(kernels, func(_ int, name string) (*bench.Comparison, error) {
		began := time.Now()
		c, err := f.onKernel(ctx, vms, m, name)
		if err == nil {
			t.Say("compared on Linux %s in %.1f s", c.Testbed.Kernel, time.Since(began).Seconds())
		}
		return c, err
	})
}
