package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/load"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// track is one benchmark through all the loads of a run: its program, the floor that is
// measured beside it, and the results so far.
type track struct {
	driven
	floor  *driven // nil if the program is only loaded
	rounds int     // over all loads
	exact  bool    // the clock counts instructions

	static   []bench.Sample
	hardware []bench.Sample
	filled   bool            // the result holds the fill levels of maps after runs
	counted  bool            // or tried to
	executed *count.Executed // nil if not counted
	insns    []bench.Sample  // of executed, or of several counts
	// uncounted is the warning that says why not.
	uncounted string
	result    bench.Result

	// alone are the rounds in which a program that runs on all CPUs ran on just
	// one, aloneFloor the same rounds of its floor.
	alone, aloneFloor bench.Counters
	// apart counts the rounds in which the CPUs did not run at the same time.
	apart int
}

func newTrack(job *Job, floor *driven) *track {
	return &track{driven: driven{job: job, warnings: slices.Clone(job.Warnings)}, floor: floor, result: bench.Result{
		Benchmark:    job.Name,
		Driver:       job.Driver(),
		Object:       job.Object.Path,
		ObjectSHA256: job.Object.SHA256,
		Program:      job.Program,
		Type:         job.Type(),
		Source:       job.Source(),
		Replaced:     job.Replaced(),
		Fresh:        job.Fresh,
	}}
}

func (t *track) open(ctx context.Context, env *driver.Environment) {
	if t.err == nil {
		t.orVerify()
	}
	t.driven.open(ctx, env)
	if t.live() && t.static == nil {
		t.static = load.Samples(t.subject.Coll, t.job.Reach())
		t.result.Maps = bpfmap.Fills(t.subject.Coll)
	}
}

func (t *track) close() {
	t.fillOnce()
	t.warnOfFill()
	t.driven.close()
}

// fillOnce records how full the maps are after the first load's runs.
func (t *track) fillOnce() {
	if t.filled || !t.live() {
		return
	}
	t.filled = true
	if len(t.result.Maps) > 0 {
		for i, now := range bpfmap.Fills(t.subject.Coll) {
			t.result.Maps[i].After = now.Entries
		}
	}
	for _, u := range t.subject.Unread {
		if w := u.Warning(); w != "" {
			t.warn(w)
		}
	}
}

// record adds the slices of the latest turn, and those of the floor, to the
// result.
func (t *track) record(load int) {
	if t.err != nil {
		return
	}
	for i, s := range t.taken {
		var floor subject.Slice
		if t.floor.live() {
			floor = t.floor.taken[i]
		}
		t.add(load, &s, &floor)
	}
}

func (t *track) add(load int, s, floor *subject.Slice) {
	s.AddTo(&t.result.Rounds, load)
	floor.AddTo(&t.result.Floor, load)
	if t.subject.Hardware != nil {
		t.recordHardware(t.subject.Hardware.Measures(), s, floor)
	}
	if s.Alone != nil && floor.Alone != nil {
		if s.Apart {
			t.apart++
		}
		s.Alone.AddTo(&t.alone, load)
		floor.Alone.AddTo(&t.aloneFloor, load)
	}
	s.Driven.AddTo(&t.result, s.RunCnt)
}

// complete returns the result as far as it was measured.
func (t *track) complete() bench.Result {
	r := t.result
	r.Warnings = slices.Clone(t.warnings)
	if t.exact {
		r.Samples = exactSamples(&r, t.job.KindsOfRuns())
	} else {
		r.Samples = timedSamples(&r)
		if s := contention(&r.Rounds, &r.Floor, &t.alone, &t.aloneFloor); len(s.Values) > 0 {
			r.Samples = append(r.Samples, s)
		}
	}
	if t.executed != nil {
		r.Samples = append(r.Samples, t.insns...)
		r.Kinds = t.executed.Kinds()
		r.Later = t.executed.Later()
	}
	r.Samples = append(r.Samples, t.hardware...)
	r.Samples = append(r.Samples, t.static...)
	err := t.err
	if err == nil && len(r.Rounds.RunCnt) > 0 && r.Rounds.Runs() == 0 {
		err = bench.WithHint(fmt.Errorf("program %s: not one run", r.Program), t.job.NeverRan())
	}
	switch {
	case err != nil: // which is also why nothing was counted
		r.Error, r.Hint, r.Log = load.Explained(err)
		r.Hint = cmp.Or(r.Hint, verdictHint(t.job, err))
	case t.uncounted != "":
		r.Warnings = append(r.Warnings, t.uncounted)
	}
	if t.floor != nil && t.floor.err != nil && err == nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("no floor: the empty %s program could not be measured: %v", r.Type, t.floor.err))
	}
	if n := len(r.Rounds.RunCnt); float64(t.apart) > fewApart*float64(n) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("in %d of %d rounds the %d CPUs were kept apart by what else runs on the machine: there can be more contention than this", t.apart, n, r.CPUs))
	}
	if n := r.Rounds.RecursionMisses; n > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d runs were skipped because the program was already running on that CPU", n))
	}
	if w := unanswered(r.Exchanged); w != "" {
		r.Warnings = append(r.Warnings, w)
	}
	if tr := r.Traffic; tr != nil && tr.Unaccounted != 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d packets are unaccounted for", tr.Unaccounted, tr.Sent))
	}
	return r
}
