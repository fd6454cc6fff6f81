package count

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

const (
	// laterTime is how long after the last run callbacks may be called: timers of a
	// second are usual.
	laterTime = 1200 * time.Millisecond
	// laterPause is the time between two looks at what they executed.
	laterPause = time.Millisecond
)

// awaitLater waits until each callback that runs asked for has been called since the
// passes began, and then until they rest, but not longer than laterTime.
func (e *Executed) awaitLater(ctx context.Context, s *subject.Subject, before *insn.Counts) error {
	last := before
	waiting := func() bool {
		since := last.Sub(e.first).Later()
		for i, l := range last.Later() {
			if l.Asked > 0 && since[i].Calls == 0 {
				return true
			}
		}
		return false
	}
	for began := time.Now(); len(before.Later()) > 0 && time.Since(began) < laterTime; {
		if err := thread.Wait(ctx, laterPause); err != nil {
			return err
		}
		now, err := e.readWhole(s)
		if err != nil {
			return err
		}
		rest := slices.Equal(now.Later(), last.Later())
		if last = now; rest && !waiting() {
			break
		}
	}
	e.last, e.after = last, last.Sub(before)
	return nil
}

// called are the callbacks that runs asked for, with what they executed since the
// passes began.
func (e *Executed) called() (all []calledLater) {
	passes := append(counts(e.passes), e.after)
	since := e.last.Sub(e.first).Later()
	for i, l := range e.last.Later() {
		if l.Asked == 0 {
			continue
		}
		c := calledLater{Later: since[i]}
		for _, p := range passes {
			if l := p.Later()[i]; l.Calls > 0 {
				c.passes = append(c.passes, perCall(l))
			}
		}
		all = append(all, c)
	}
	return all
}

// calledLater is what a callback executed in total, and in each pass, per call.
type calledLater struct {
	insn.Later
	passes []float64
}

func perCall(l insn.Later) float64 { return unit.Round(float64(l.Executed) / float64(l.Calls)) }

// Later returns the callbacks that are called after the runs that asked for them,
// and what a call of each executes.
func (e *Executed) Later() (all []bench.Later) {
	for _, c := range e.called() {
		later := bench.Later{Program: bench.ClipName(c.Program), Function: bench.ClipName(c.Function), By: c.By}
		if c.Calls > 0 {
			n := perCall(c.Later)
			later.BPFInsns = &n
		}
		all = append(all, later)
	}
	return all
}

// LaterSample returns what a call of each callback executes, added up, or nil if
// none was called. If passes differ, its values are like those of Sample.
func (e *Executed) LaterSample() *bench.Sample {
	var least, mean, most float64
	none := true
	for _, c := range e.called() {
		if c.Calls > 0 {
			none = false
			least, mean, most = least+slices.Min(c.passes), mean+perCall(c.Later), most+slices.Max(c.passes)
		}
	}
	switch {
	case none:
		return nil
	case least < most:
		return &bench.Sample{Measure: bench.BPFInsnsLater, Values: []float64{least, mean, most}}
	}
	return &bench.Sample{Measure: bench.BPFInsnsLater, Values: []float64{mean}}
}

// LaterWarnings returns a warning for each callback that was not called, or that cannot
// be told from the runs.
func (e *Executed) LaterWarnings() (all []string) {
	for _, c := range e.called() {
		shared := e.table.SharedLater(c.Program, c.Function)
		switch {
		case c.Calls == 0:
			all = append(all, fmt.Sprintf("%s, which a %s calls after the run, was not called within %v: what it executes is in no figure", c.Function, c.By, laterTime))
		case len(shared) > 0:
			all = append(all, fmt.Sprintf("what runs and %s, which a %s calls after them, both execute counts as that of the runs: %s", c.Function, c.By, unit.Few(shared)))
		}
	}
	return all
}
