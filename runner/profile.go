package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// The hardware counters of an attached program are read by programs that trace
// it before and after each run. The time that the kernel charges includes them,
// so the program is traced in separate slices, after those of the rounds, and
// only then.

// profiled holds the slices in which a track's runs were profiled.
type profiled struct {
	measures []bench.Measure
	slices   []subject.Slice
	err      error
}

// profile adds n values of the hardware counters to the results of the attached
// tracks if the machine has counters.
func profile(ctx context.Context, env *driver.Environment, tracks []*track, n int) {
	if len(env.Counters.Measures()) == 0 {
		return
	}
	var round []part
	for _, t := range tracks {
		if t.job.Verify == nil && !t.job.Kind().OnThread {
			round = append(round, part{t, n})
		}
	}
	all := map[*driven]profiled{}
	for _, u := range turns(round) {
		if ctx.Err() == nil {
			u.attached(ctx, func() { all[u.driven] = u.profile(ctx, u.slices) })
		}
	}
	if ctx.Err() != nil {
		return
	}
	for _, p := range round {
		p.track.recordProfile(all[&p.track.driven], all[p.track.floor])
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

// profile runs the program for n slices while it is traced.
func (d *driven) profile(ctx context.Context, n int) (p profiled) {
	tracing, err := pmu.Attach(driver.HardwareEvents, d.subject.Program, d.job.Function())
	if err != nil {
		return profiled{err: fmt.Errorf("program %s: %w", d.job.Program, err)}
	}
	p.measures = tracing.Measures()
	for len(p.slices) < n && p.err == nil {
		var s subject.Slice
		s, p.err = traced(ctx, d.subject, tracing)
		p.slices = append(p.slices, s)
	}
	p.err = errors.Join(p.err, tracing.Close())
	return p
}

// traced drives one slice that counts runs and events by tracing and takes no
// times.
func traced(ctx context.Context, s *subject.Subject, tracing *pmu.Profile) (subject.Slice, error) {
	runs, events, err := tracing.Read()
	if err != nil {
		return subject.Slice{}, err
	}
	if err := s.Drive(ctx); err != nil {
		return subject.Slice{}, err
	}
	runsAfter, eventsAfter, err := tracing.Read()
	if err != nil {
		return subject.Slice{}, err
	}
	return subject.Slice{Counters: driver.Counters{RunCnt: runsAfter - runs}, Events: subject.EventsSince(eventsAfter, events)}, nil
}
