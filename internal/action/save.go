package action

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/github"
)

// save saves the runs of the default branch to the baseline, and reports whether it did.
// GitHub, not a file, says which commit they are from.
func (r *reporter) save(ctx context.Context) (bool, error) {
	if r.on == nil || !r.on.OnDefaultBranch() || !r.in.saves() {
		return false, nil
	}
	from := folder.Open(r.state.path(savedFolder))
	runs, problems, err := from.List(ctx, baseline.Query{})
	r.warnOf(problems...)
	if err != nil || len(runs) == 0 {
		return false, err
	}
	to, err := r.store(r.api)
	if to == nil {
		r.tell("no baseline is saved: %v", err)
		return false, ignoreUnlessUsage(err)
	}
	for _, m := range slices.Backward(runs) {
		e, err := from.Load(ctx, m.ID)
		if err != nil {
			return false, fmt.Errorf("save to the baseline: %w", err)
		}
		e.Branch, e.Commit, e.Tags = r.on.HeadRef, r.on.HeadSHA, nil
		saved, err := to.Save(ctx, e)
		if errors.Is(err, github.ErrReadOnly) {
			r.Watch.Tell(bench.Note{Warn: true, Text: fmt.Sprintf("no baseline is saved: %v", err), Hint: "give the job permissions: {contents: write}; or build the base by the input build, and set baseline: none"})
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("save to the baseline: %w", err)
		}
		r.tell("saved run %s of %.12s in the baseline (%s)", saved.ID, saved.Commit, r.in.baseline)
	}
	return true, nil
}
