package runner

import (
	"errors"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// whyNotHere is why the job's program is only loaded on this kernel, nil where
// there is no reason to: a driver that the suite names is not given up. floor is
// the track of the empty program that is driven the same way, which was tried.
func (j *Job) whyNotHere(floor *track) error {
	var no *host.CannotError
	if j.chosen && floor != nil && errors.As(floor.err, &no) {
		return floor.err
	}
	return nil
}

// byVerify is the job whose program is only loaded, with the reason as a warning.
func (j *Job) byVerify(why error) *Job {
	job, b := *j, *j.Benchmark
	b.SetDriver(bench.DriverVerify)
	// What is never run is not prepared for it either.
	job.Benchmark, job.Frames, job.preparations = &b, nil, nil
	job.Warnings = append(job.Warnings[:len(job.Warnings):len(job.Warnings)], NotRun+why.Error())
	return &job
}

// orVerify makes of a track whose driver was chosen for it one that only loads
// its program, where this kernel cannot do what the driver does.
func (t *track) orVerify() {
	if why := t.job.whyNotHere(t.floor); why != nil {
		*t = *newTrack(t.job.byVerify(why), nil)
	}
}
