package merge

import (
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// latest returns the pieces without those that a later attempt of the workflow measured
// again. Notes say so, and which of the others are not of the last attempt.
func latest(all []*piece) (kept []*piece, notes []string) {
	var last *bench.Attempt
	var earlier []string
	for _, p := range all {
		if again := slices.IndexFunc(all, func(o *piece) bool { return o.replaces(p) }); again >= 0 {
			notes = unit.AppendNew(notes, fmt.Sprintf("%s is of %v and not judged: %s is of %v", p.file, p.workflow, all[again].file, all[again].workflow))
			continue
		}
		kept = append(kept, p)
		if last == nil || last.Before(p.workflow) {
			last = p.workflow
		}
	}
	for _, p := range kept {
		if p.workflow.Before(last) {
			earlier = unit.AppendNew(earlier, p.file)
		}
	}
	if earlier != nil {
		notes = append(notes, fmt.Sprintf("not measured again in %v: %s", last, unit.Few(earlier)))
	}
	return kept, notes
}

// replaces reports whether the piece is of a later attempt than another and has the same
// shard or, if there are none, a benchmark of the other.
func (p *piece) replaces(old *piece) bool {
	switch {
	case !old.workflow.Before(p.workflow) || p.testbed.Kernel != old.testbed.Kernel || p.testbed.Mode != old.testbed.Mode:
		return false
	case p.comparison != nil && old.comparison != nil && p.comparison.Head != old.comparison.Head:
		return false
	case p.shard != nil && old.shard != nil:
		return *p.shard == *old.shard
	}
	return slices.ContainsFunc(p.names, func(name string) bool { return slices.Contains(old.names, name) })
}

// commonAttempt returns the attempt that measured all pieces, nil if there were several.
func commonAttempt(pieces []*piece) *bench.Attempt {
	first := pieces[0].workflow
	for _, p := range pieces[1:] {
		if first == nil || p.workflow == nil || *p.workflow != *first {
			return nil
		}
	}
	return first
}
