package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/runner/internal/drive"
)

// The hardware counters of an attached program are read by programs that trace it,
// before and after each run. What these do is in the time that the kernel charges,
// so the program is traced in slices of its own, once those of the rounds are over,
// and loses what traces it after them.

// profiled are slices of a track in which its runs were profiled.
type profiled struct {
	measures []bench.Measure
	slices   []drive.Slice
	err      error
}

// profile adds so many values of the hardware counters to the results of those of the
// tracks that are attached, if the machine has counters. Their floors are in turn too.
func profile(ctx context.Context, env *drive.Environment, turn []*track, n int) {
	if len(env.Counters.Measures()) == 0 {
		return
	}
	all := map[*track]profiled{}
	for _, t := range turn {
		if t.live() && ctx.Err() == nil && t.job.TestRun == nil && t.job.Verify == nil {
			all[t] = t.profile(ctx, n)
		}
	}
	if ctx.Err() != nil {
		return
	}
	for _, t := range turn {
		if t.floor != nil {
			t.recordProfile(all[t], all[t.floor])
		}
	}
}

func (t *track) recordProfile(p, floor profiled) {
	if err := cmp.Or(p.err, floor.err); err != nil {
		t.warn(fmt.Sprintf("the hardware counters of a run could not be read: %v", err))
		return
	}
	for i := range min(len(p.slices), len(floor.slices)) {
		t.recordHardware(p.measures, &p.slices[i], &floor.slices[i])
	}
}

// profile lets the program run for so many slices, traced.
func (t *track) profile(ctx context.Context, n int) (p profiled) {
	tracing, err := pmu.Attach(drive.HardwareEvents, t.subject.Program, t.job.Function())
	if err != nil {
		return profiled{err: fmt.Errorf("program %s: %w", t.job.Program, err)}
	}
	p.measures = tracing.Measures()
	for len(p.slices) < n && p.err == nil {
		var s drive.Slice
		s, p.err = traced(ctx, t.subject, tracing)
		p.slices = append(p.slices, s)
	}
	p.err = errors.Join(p.err, tracing.Close())
	return p
}

// traced is a slice by what traces the program, which is not timed.
func traced(ctx context.Context, s *drive.Subject, tracing *pmu.Profile) (drive.Slice, error) {
	runs, events, err := tracing.Read()
	if err != nil {
		return drive.Slice{}, err
	}
	if err := s.Drive(ctx); err != nil {
		return drive.Slice{}, err
	}
	runsAfter, eventsAfter, err := tracing.Read()
	if err != nil {
		return drive.Slice{}, err
	}
	return drive.Slice{Counters: drive.Counters{RunCnt: runsAfter - runs}, Events: drive.EventsSince(eventsAfter, events)}, nil
}
