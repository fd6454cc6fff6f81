package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf/btf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/pmu"
)

// The hardware counters of an attached program are read by programs that trace it,
// before and after each run. What these do is in the time that the kernel charges,
// so the program is traced in slices of its own, once those of the rounds are over,
// and loses what traces it after them.

// profiled are slices of a track in which its runs were profiled.
type profiled struct {
	measures []bench.Measure
	slices   []slice
	err      error
}

// profile adds so many values of the hardware counters to the results of those of the
// tracks that are attached, if the machine has counters. Their floors are in turn too.
func profile(ctx context.Context, env *environment, turn []*track, n int) {
	if len(env.counters.Measures()) == 0 {
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
	tracing, err := pmu.Attach(hardwareEvents, t.subject.program, t.job.function())
	if err != nil {
		return profiled{err: fmt.Errorf("program %s: %w", t.job.Program, err)}
	}
	p.measures = tracing.Measures()
	for len(p.slices) < n && p.err == nil {
		var s slice
		s, p.err = t.subject.traced(ctx, tracing)
		p.slices = append(p.slices, s)
	}
	p.err = errors.Join(p.err, tracing.Close())
	return p
}

// traced is a slice by what traces the program, which is not timed.
func (s *subject) traced(ctx context.Context, tracing *pmu.Profile) (slice, error) {
	runs, events, err := tracing.Read()
	if err != nil {
		return slice{}, err
	}
	if err := s.drive(ctx); err != nil {
		return slice{}, err
	}
	runsAfter, eventsAfter, err := tracing.Read()
	if err != nil {
		return slice{}, err
	}
	return slice{counters: counters{runCnt: runsAfter - runs}, events: eventsSince(eventsAfter, events)}, nil
}

// function is the program's name in its BTF, empty without.
func (j *Job) function() string {
	if f := btf.FuncMetadata(&j.program().Instructions[0]); f != nil {
		return f.Name
	}
	return ""
}
