package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	"github.com/org/ebpf-bench-action/runner/internal/drive"
	"github.com/org/ebpf-bench-action/runner/internal/load"
)

// track is one benchmark through all the loads of a run: its job, its subject
// while it is loaded, and the measurements so far. A floor is a track, too; its
// counters only serve for comparison with those of others.
type track struct {
	job    *Job
	floor  *track // nil for a floor itself
	rounds int    // over all loads
	exact  bool   // the clock counts instructions

	subject *drive.Subject
	runs    int           // of a slice, once lengthened
	wall    time.Duration // of one slice, including resetting maps, from the pilot
	err     error

	last     drive.Slice   // the latest
	taken    []drive.Slice // those of the latest turn, until they are recorded
	ran      uint64        // runs of all slices
	static   []bench.Sample
	counted  bool
	hardware []bench.Sample
	filled   bool            // the result holds the fill levels of maps after runs
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

func newTrack(job *Job, floor *track) *track {
	return &track{job: job, floor: floor, result: bench.Result{
		Benchmark:    job.Name,
		Driver:       job.Driver(),
		Object:       job.Object.Path,
		ObjectSHA256: job.Object.SHA256,
		Program:      job.Program,
		Type:         job.Type(),
		Source:       job.Source(),
		Replaced:     job.Replaced(),
		Fresh:        job.Fresh,
		Warnings:     slices.Clone(job.Warnings),
	}}
}

// warn adds a warning to the result, unless it is there already.
func (t *track) warn(text string) {
	if !slices.Contains(t.result.Warnings, text) {
		t.result.Warnings = append(t.result.Warnings, text)
	}
}

func (t *track) live() bool { return t.subject != nil && t.err == nil }

func (t *track) open(ctx context.Context, env *drive.Environment) {
	if t.err != nil {
		return
	}
	t.orVerify()
	t.subject, t.err = drive.Open(ctx, env, t.job)
	if t.err != nil && ctx.Err() != nil {
		t.err = nil
		return
	}
	if t.err == nil && t.subject.Warning != "" {
		t.warn(t.subject.Warning)
	}
	if t.err == nil && t.static == nil {
		t.static = load.Samples(t.subject.Coll, t.job.Reach())
		t.result.Maps = bpfmap.Fills(t.subject.Coll)
	}
	if env.NotHeld != nil {
		t.warn(fmt.Sprintf("calling the program takes some nanoseconds longer: %v", env.NotHeld))
		env.NotHeld = nil
	}
}

func (t *track) close() {
	if t.subject != nil {
		t.fillOnce()
		t.warnOfFill()
		// If something cannot be detached now, it ends with the process, and no
		// measurement depends on it.
		_ = t.subject.Close()
		t.subject = nil
	}
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

// attached calls do with the program attached to its hook, and returns how long
// attaching and detaching took. A hook that programs share has one of the tool's at
// a time, so that none is measured with another.
func (t *track) attached(ctx context.Context, do func()) (attaching time.Duration) {
	if !t.live() {
		return 0
	}
	began := time.Now()
	if err := t.subject.Attach(ctx); err != nil {
		if ctx.Err() == nil {
			t.err = err
		}
		return 0
	}
	attaching = time.Since(began)
	do()
	began = time.Now()
	if err := t.subject.Detach(); err != nil && t.err == nil {
		t.err = fmt.Errorf("detach: %w", err)
	}
	return attaching + time.Since(began)
}

// slice lets the program run for one slice. A slice that ctx cuts off is not a
// fault of the benchmark.
func (t *track) slice(ctx context.Context) {
	if !t.live() {
		return
	}
	last, err := t.subject.Slice(ctx)
	if ctx.Err() == nil {
		t.last, t.err = last, err
		t.ran += last.RunCnt
	}
}

// settle lets the program run as often as it does in every mode before it is
// measured.
func (t *track) settle(ctx context.Context) {
	if !t.live() {
		return
	}
	if err := t.subject.Settle(ctx, t.job.Settle); ctx.Err() == nil {
		t.err = err
	}
}

// warmUpTime is how long a program runs before it is measured: the first runs
// after a load are slow, and a CPU that was idle takes a while to wake up.
const warmUpTime = 5 * time.Millisecond

func (t *track) warmUp(ctx context.Context) {
	for began := time.Now(); t.live() && ctx.Err() == nil && time.Since(began) < warmUpTime; {
		t.slice(ctx)
	}
}

// pilotTime is when a pilot stops starting further slices: a slice that long
// hides short disturbances of the machine.
const pilotTime = 500 * time.Millisecond

// pilot measures how long a slice takes, including its preparation: the median
// of three, or of fewer if they are long.
func (t *track) pilot(ctx context.Context) time.Duration {
	var walls []time.Duration
	for began := time.Now(); len(walls) == 0 || len(walls) < 3 && time.Since(began) < pilotTime; {
		before := time.Now()
		t.slice(ctx)
		walls = append(walls, time.Since(before))
	}
	slices.Sort(walls)
	t.wall = walls[len(walls)/2]
	return t.wall
}

// record adds the slices of the latest turn, and those of the floor, to the
// result.
func (t *track) record(load int) {
	if t.floor == nil || t.err != nil {
		return
	}
	for i, s := range t.taken {
		var floor drive.Slice
		if t.floor.live() {
			floor = t.floor.taken[i]
		}
		t.add(load, &s, &floor)
	}
}

func (t *track) add(load int, s, floor *drive.Slice) {
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
	r.Warnings = slices.Clone(r.Warnings)
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
