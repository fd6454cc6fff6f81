package judge

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// history returns the values that a policy judges a run by beside its own: those of
// earlier runs on the same testbed and on these branches, or on any branch if none has a
// name. It reads no more than the policy needs, and returns nil if that is nothing.
func (j *Judge) history(ctx context.Context, run *bench.Run, branches ...string) (func(benchmark, measure string) []float64, []bench.Note, error) {
	h, notes, err := j.past(ctx, run, branches)
	if h == nil || err != nil {
		return nil, notes, err
	}
	return oldestFirst(h), notes, nil
}

func oldestFirst(h *baseline.History) func(benchmark, measure string) []float64 {
	return func(benchmark, measure string) []float64 {
		values := h.Values(benchmark, measure)
		slices.Reverse(values)
		return values
	}
}

// past returns what the policy needs from those runs, nil if that is nothing.
func (j *Judge) past(ctx context.Context, run *bench.Run, branches []string) (_ *baseline.History, notes []bench.Note, _ error) {
	var wanted []baseline.Series
	for benchmark, measure := range j.Policy.Historic(run) {
		wanted = append(wanted, baseline.Series{Benchmark: benchmark, Measure: measure})
	}
	if len(wanted) == 0 {
		return nil, nil, nil
	}
	branches = slices.DeleteFunc(unit.Unique(branches), func(name string) bool { return name == "" })
	q := baseline.Query{Testbed: baseline.Key(run.Testbed), Branches: branches, Before: run.Started}
	h, err := j.Store.History(ctx, q, wanted...)
	if err != nil {
		return nil, nil, fmt.Errorf("judge by the history: %w", err)
	}
	for _, p := range h.Problems {
		notes = append(notes, bench.Warn("%v", p))
	}
	if len(h.Runs) == 0 {
		notes = append(notes, bench.Warn("the baseline in %s has no history to judge by: no earlier run%s on this testbed (%s)",
			j.Where, ofBranches(branches), baseline.Machine(run.Testbed)))
	}
	return h, notes, nil
}

func ofBranches(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " of branch " + strings.Join(names, " or ")
}

// historyOf returns the history for a run that is judged by itself: on its branch, and on
// the default branch, where that began. The costs on another branch say nothing about this
// one. If no branch is known, it covers all.
func (j *Judge) historyOf(ctx context.Context, run *bench.Run) (func(benchmark, measure string) []float64, []bench.Note, error) {
	var branches []string
	if branch := cmp.Or(j.Branch, git.Branch(ctx)); branch != "" {
		branches = []string{branch, git.DefaultBranch(ctx)}
	} else if git.InRepository(ctx) {
		branches = []string{git.DefaultBranch(ctx)}
	}
	h, notes, err := j.past(ctx, run, branches)
	if h == nil || err != nil {
		return nil, notes, err
	}
	if n := len(h.Runs); n > 0 {
		notes = append(notes, bench.Say("judged among %s%s on this testbed", unit.Plural(n, "earlier run"), fromBranches(h.Runs)))
	}
	return oldestFirst(h), notes, nil
}

// fromBranches names the branches of runs, with the number of runs on each.
func fromBranches(runs []baseline.Meta) string {
	count := map[string]int{}
	for _, m := range runs {
		count[m.Branch]++
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d of %s", count[name], cmp.Or(name, "no branch")))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
