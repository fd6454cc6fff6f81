package count

import (
	"context"

	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/runner/internal/drive"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// Fresh returns the jobs, which are to be measured alike, so that each run finds
// the packet and the context of the suite: if a run of one depends on what the run
// before it left there, the runs of all have calls of their own. A nil job stays
// nil. What keeps a job from being run at all is left to its measurement.
func Fresh(ctx context.Context, jobs ...*plan.Job) []*plan.Job {
	on := ""
	for _, j := range jobs {
		if j != nil && j.SharesInput() && on == "" && ctx.Err() == nil {
			on = depends(ctx, j)
		}
	}
	fresh := make([]*plan.Job, len(jobs))
	for i, j := range jobs {
		if j != nil {
			with := *j
			with.Fresh = on
			fresh[i] = &with
		}
	}
	return fresh
}

// depends returns what runs of a job depend on that other runs left, or "". If they
// cannot be counted, they may.
func depends(ctx context.Context, j *plan.Job) (on string) {
	spec := j.Spec.Copy()
	drive.ZeroSeeds(spec)
	table, err := insn.Instrument(spec, insn.Options{Skip: companions(j)})
	if err != nil {
		return drive.OnEither
	}
	env := &drive.Environment{Exact: true, Late: true, Counters: &pmu.Counters{}}
	defer func() { _ = env.Close() }()
	s, err := drive.OpenSpec(ctx, env, j, spec)
	if err != nil {
		return drive.OnEither
	}
	// If something cannot be detached now, it ends with the process.
	defer func() { _ = s.Close() }()
	if err := s.Attach(ctx); err != nil {
		return ""
	}
	on, err = s.Depends(ctx, func() (uint64, error) {
		counts, err := table.Read(s.Coll)
		if err != nil {
			return 0, err
		}
		return counts.Total(), nil
	})
	if err != nil {
		return ""
	}
	return on
}
