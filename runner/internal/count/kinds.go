package count

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

const (
	// sortedRuns is how many runs are sorted into kinds, at most for sortBudget: a
	// kind that few of them are of may be missing on the other side.
	sortedRuns = 1024
	sortBudget = 2 * passBudget
	// mostKinds is the most kinds that are told apart: more are a spread.
	mostKinds = 8
)

// sortRuns finds the kinds of the runs of a job whose passes differ, if each run
// can be driven and counted by itself.
func (e *Executed) sortRuns(ctx context.Context, s *subject.Subject) error {
	r, empty := s.Repeats(ctx)
	if r == nil || r.Inputs() == 0 || bpfmap.StartOver(s.Emptiers) || e.spread(func(p pass) uint64 { return p.counts.Total() }) == nil {
		return nil
	}
	kinds := map[bench.Kind]uint64{}
	before, err := e.table.Read(s.Coll)
	if err != nil {
		return err
	}
	began := time.Now()
	for n := 0; n < sortedRuns && time.Since(began) < sortBudget; {
		for i := range r.Inputs() {
			if err := empty(); err != nil {
				return err
			}
			retval, err := r.One(i)
			if err != nil {
				return err
			}
			after, err := e.table.Read(s.Coll)
			if err != nil {
				return err
			}
			kinds[bench.Kind{Retval: retval, BPFInsns: after.Total() - before.Total()}]++
			if len(kinds) > mostKinds {
				return nil
			}
			before = after
			n++
		}
	}
	if len(kinds) < 2 {
		return nil
	}
	for kind, n := range kinds {
		kind.Runs = n
		e.kinds = append(e.kinds, kind)
	}
	slices.SortFunc(e.kinds, func(a, b bench.Kind) int {
		return cmp.Or(cmp.Compare(a.Retval, b.Retval), cmp.Compare(a.BPFInsns, b.BPFInsns))
	})
	return nil
}

// Kinds returns the kinds of runs of the same input, by return value and then by
// BPF instructions. There are none if all are alike, or if they cannot be told apart.
func (e *Executed) Kinds() []bench.Kind { return e.kinds }
