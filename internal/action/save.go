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
func (s *step) save(ctx context.Context, api *github.API) (bool, error) {
	if s.on == nil || !s.on.OnDefaultBranch() || !s.in.saves() {
		return false, nil
	}
	from := folder.Open(s.state.path(savedFolder))
	runs, problems, err := from.List(ctx, baseline.Query{})
	s.warnOf(problems...)
	if err != nil || len(runs) == 0 {
		return false, err
	}
	to, err := s.store(api)
	if to == nil {
		s.tell("no baseline is saved: %v", err)
		return false, ignoreUnlessUsage(err)
	}
	for _, m := range slices.Backward(runs) {
		e, err := from.Load(ctx, m.ID)
		if err != nil {
			return false, fmt.Errorf("save to the baseline: %w", err)
		}
		e.Branch, e.Commit, e.Tags = s.on.HeadRef, s.on.HeadSHA, nil
		saved, err := to.Save(ctx, e)
		if errors.Is(err, github.ErrReadOnly) {
			s.Watch.Tell(bench.Note{Warn: true, Text: fmt.Sprintf("no baseline is saved: %v", err), Hint: "give the job permissions: {contents: write}; or build the base by the input build, and set baseline: none"})
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("save to the baseline: %w", err)
		}
		s.tell("saved run %s of %.12s in the baseline (%s)", saved.ID, saved.Commit, s.in.baseline)
	}
	return true, nil
}
