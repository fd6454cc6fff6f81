package main

import (
	"context"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/job"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

// onHost measures both sides on this machine.
func (f *compareFlags) onHost(ctx context.Context, t *ui.Terminal, m *sides.Matchup, policy *thresholds.Policy) (*bench.Comparison, error) {
	said := false
	c, err := job.Twice(ctx, m.Pairs, runner.Options{Budget: f.budget, Seed: f.seed, Tool: version(), PlanLoads: job.PlanLoads(policy, m.Total)}, policy,
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

// onKernels compares on each kernel.
func (f *compareFlags) onKernels(ctx context.Context, t *ui.Terminal, m *sides.Matchup, kernels []string) ([]*bench.Comparison, error) {
	on, err := f.machines.Open(t, kernels)
	if err != nil {
		return nil, err
	}
	return job.Options{Budget: f.budget, Seed: f.seed, Done: sayDone(t, "compared")}.Comparisons(ctx, on, kernels, m)
}
