package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/thresholds"
)

// history is what a policy judges a run by beside its own values: those of the
// earlier runs of the same testbed and branch, empty for any branch. It reads no
// more than the policy asks for, and is nil where that is nothing.
func (f *storeFlag) history(ctx context.Context, t *terminal, policy *thresholds.Policy, run *bench.Run, branch string) (func(benchmark, measure string) []float64, error) {
	var wanted []baseline.Series
	for benchmark, measure := range policy.Historic(run) {
		wanted = append(wanted, baseline.Series{Benchmark: benchmark, Measure: measure})
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	q := baseline.Query{Testbed: baseline.Key(run.Testbed), Branch: branch, Before: run.Started}
	h, err := f.open().History(ctx, q, wanted...)
	if err != nil {
		return nil, fmt.Errorf("judge by the history: %w", err)
	}
	for _, p := range h.Problems {
		t.say("warning: ", "%v", p)
	}
	if len(h.Runs) == 0 {
		t.say("warning: ", "the baseline in %s has no history to judge by: no earlier run%s on this testbed (%s)",
			f.folder, ofBranch(branch), baseline.Machine(run.Testbed))
	}
	return func(benchmark, measure string) []float64 {
		values := h.Values(benchmark, measure)
		slices.Reverse(values)
		return values
	}, nil
}

func ofBranch(branch string) string {
	if branch == "" {
		return ""
	}
	return " of branch " + branch
}
