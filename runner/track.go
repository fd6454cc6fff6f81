package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// track is one benchmark through all the loads of a run: its job, the subject
// while there is one, and what was measured so far. A floor is a track too,
// whose counters are only what those of others are compared with.
type track struct {
	job    *Job
	floor  *track // nil for a floor itself
	rounds int    // over all loads
	exact  bool   // the clock counts instructions

	subject *subject
	wall    time.Duration // of one slice, by the pilot
	err     error

	last     slice // the latest, until it is recorded
	static   []bench.Sample
	counted  bool
	executed *executed // nil where it could not be counted
	result   bench.Result
}

// slice is what one round measured of one track.
type slice struct {
	counters
	driven
	wall time.Duration
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
		Warnings:     slices.Clone(job.Warnings),
	}}
}

// warn adds a warning to the result, once.
func (t *track) warn(text string) {
	if !slices.Contains(t.result.Warnings, text) {
		t.result.Warnings = append(t.result.Warnings, text)
	}
}

func (t *track) live() bool { return t.subject != nil && t.err == nil }

func (t *track) open(env *environment) {
	if t.err != nil {
		return
	}
	t.subject, t.err = openSubject(env, t.job)
	if t.err == nil && t.static == nil {
		t.static = staticSamples(t.subject.coll)
	}
	if env.notHeld != nil {
		t.warn("the kernel's XDP dispatcher has no place for the program: calling it takes longer, by some nanoseconds")
		env.notHeld = nil
	}
}

func (t *track) close() {
	if t.subject != nil {
		// What cannot be detached now ends with the process, and nothing that
		// was measured depends on it.
		_ = t.subject.Close()
		t.subject = nil
	}
}

// slice lets the program run for one slice.
func (t *track) slice() {
	if t.live() {
		t.last, t.err = t.subject.slice()
	}
}

// warmUpTime is how long a program runs before it is measured: the first runs
// after a load are slow, and a CPU that was idle takes a while to wake up.
const warmUpTime = 5 * time.Millisecond

func (t *track) warmUp(ctx context.Context) {
	for began := time.Now(); t.live() && ctx.Err() == nil && time.Since(began) < warmUpTime; {
		t.slice()
	}
}

// pilot measures how long a slice takes: the median of three.
func (t *track) pilot() time.Duration {
	var walls []time.Duration
	for range 3 {
		t.slice()
		walls = append(walls, t.last.wall)
	}
	slices.Sort(walls)
	t.wall = walls[1]
	return t.wall
}

// record adds the latest slice to the result, with that of the floor.
func (t *track) record(load int) {
	if t.floor == nil || t.err != nil {
		return
	}
	t.last.addTo(&t.result.Rounds, load)
	var floor slice
	if t.floor.live() {
		floor = t.floor.last
	}
	floor.addTo(&t.result.Floor, load)
	t.last.driven.addTo(&t.result, t.last.runCnt)
}

func (s *slice) addTo(c *bench.Counters, load int) {
	c.Add(load, s.runTimeNS, s.runCnt, uint64(s.wall.Nanoseconds()), s.recursionMisses)
}

// complete is the result as far as it was measured.
func (t *track) complete() bench.Result {
	r := t.result
	r.Warnings = slices.Clone(r.Warnings)
	if t.exact {
		r.Samples = exactSamples(&r, len(t.job.Frames))
	} else {
		r.Samples = timedSamples(&r)
	}
	if t.executed != nil {
		r.Samples = append(r.Samples, t.executed.sample())
	}
	r.Samples = append(r.Samples, t.static...)
	err := t.err
	if err == nil && len(r.Rounds.RunCnt) > 0 && r.Rounds.Runs() == 0 {
		err = bench.WithHint(fmt.Errorf("program %s: not one run", r.Program), neverRan[r.Driver])
	}
	if err != nil {
		r.Error, r.Hint, r.Log = told(err)
	}
	if t.floor != nil && t.floor.err != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("no floor: the empty %s program could not be measured: %v", r.Type, t.floor.err))
	}
	if n := r.Rounds.RecursionMisses; n > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d runs were skipped because the program was already running on that CPU", n))
	}
	if tr := r.Traffic; tr != nil && tr.Unaccounted != 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d packets are unaccounted for", tr.Unaccounted, tr.Sent))
	}
	return r
}

var neverRan = map[string]string{
	"test_run":   "the kernel ran it without counting: is kernel.bpf_stats_enabled reset by something else?",
	"veth":       "no packet reached the program: are the packets larger than the MTU?",
	"perf_event": "the event never fired: does the load do what the event counts?",
}
