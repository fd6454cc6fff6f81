package count

import (
	"context"
	"slices"

	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// insnsToSettle bounds the runs that precede the measured ones for slow programs, in BPF
// instructions: some 10 ms.
const insnsToSettle = 1 << 25

// Study finds out how the runs of jobs depend on one another, and returns the jobs
// so that all are measured alike, and in the same state in every mode:
//
//   - Each run finds the packet and the context of the suite. If a run of one job
//     depends on what the run before it left there, the runs of all have calls of
//     their own.
//   - The measured runs come after the same number of others, in which maps fill up.
//
// A nil job stays nil. What keeps a job from being run at all is left to its
// measurement.
func Study(ctx context.Context, jobs ...*plan.Job) []*plan.Job {
	var all study
	left := make([][]progrun.Left, len(jobs))
	for i, j := range jobs {
		if j != nil && j.Settles() && ctx.Err() == nil {
			left[i] = all.add(ctx, j)
		}
	}
	studied := make([]*plan.Job, len(jobs))
	for i, j := range jobs {
		if j != nil {
			studied[i] = j.WithFresh(all.fresh)
			studied[i].Left = left[i]
		}
	}
	settle := 0
	for _, j := range studied {
		if j != nil && j.Settles() && j.State != bench.StateFresh && all.state && ctx.Err() == nil {
			settle = max(settle, settling(ctx, j))
		}
	}
	if all.insns > 0 {
		settle = min(settle, max(int(insnsToSettle/all.insns), 1))
	}
	for _, j := range studied {
		if j != nil && j.Settles() {
			j.Settle = settle
		}
	}
	return studied
}

// study is what is known of jobs that are measured alike.
type study struct {
	// fresh is on what of their input a run of one depends.
	fresh string
	// state says that runs of one may depend on what others left elsewhere.
	state bool
	// insns is the most BPF instructions of a run, 0 if unknown.
	insns uint64
}

// add finds out whether the runs of a job depend on what others leave. If they
// cannot be counted, they may. If what they leave of their input can change, it returns what
// that is.
func (y *study) add(ctx context.Context, j *plan.Job) (left []progrun.Left) {
	spec := j.Spec.Copy()
	subject.ZeroSeeds(spec)
	table, err := insn.Instrument(spec, insn.Options{Skip: companions(j)})
	y.state = y.state || err != nil || !table.Repeatable(j.Spec)
	if !j.SharesInput() {
		return nil
	}
	if err != nil {
		y.fresh = driver.OnEither
		return nil
	}
	s, closeAll, err := open(ctx, j, spec, true)
	if err != nil {
		y.fresh = driver.OnEither
		return nil
	}
	defer closeAll()
	r, empty := s.Repeats(ctx)
	count := func() (uint64, error) {
		counts, err := table.Read(s.Coll)
		if err != nil {
			return 0, err
		}
		if runs := counts.Runs(j.Program); runs > 0 {
			y.insns = max(y.insns, counts.Total()/runs)
		}
		return counts.Total(), nil
	}
	on, err := r.Depends(ctx, empty, count)
	if err == nil && on == "" && !table.Repeatable(j.Spec) {
		on, left, err = dependsLater(ctx, r, empty, count)
	}
	if err == nil && on != "" {
		y.fresh = on
	}
	return left
}

// dependsLater is like Depends after very many runs, which leave something in maps. It also
// returns what runs leave of their input.
func dependsLater(ctx context.Context, r driver.Repeater, empty func() error, count func() (uint64, error)) (on string, left []progrun.Left, err error) {
	if on, err = r.Strays(empty); err != nil || on != "" {
		return on, nil, err
	}
	if on, err = r.Depends(ctx, empty, count); err != nil || on != "" {
		return on, nil, err
	}
	left, err = r.Leaves(empty)
	return "", left, err
}

// settling returns how many runs of a job precede the measured ones.
func settling(ctx context.Context, j *plan.Job) int {
	runs, most := j.Kind().Settle(j)
	if runs == most || !fills(j) {
		return runs
	}
	spec := j.Spec.Copy()
	subject.ZeroSeeds(spec)
	s, closeAll, err := open(ctx, j, spec, true)
	if err != nil {
		return runs
	}
	defer closeAll()
	if s.Settle(ctx, runs) != nil {
		return runs
	}
	for held := s.Holds(); runs < most && s.Settle(ctx, runs) == nil; runs *= 2 {
		before := held
		if held = s.Holds(); slices.Equal(before, held) {
			break
		}
	}
	return runs
}

// fills reports whether a run may change how much maps hold.
func fills(j *plan.Job) bool {
	for _, m := range j.Maps {
		if m.Reset == bench.ResetNever {
			return true
		}
	}
	for _, p := range j.Spec.Programs {
		if object.Calls(p, asm.FnMapUpdateElem) || object.Calls(p, asm.FnMapDeleteElem) {
			return true
		}
	}
	return false
}
