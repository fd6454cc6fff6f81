package runner

import (
	"errors"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// cannotError says that this kernel does not run programs the way that a driver
// does, whatever the program is.
type cannotError struct{ error }

func (e *cannotError) Unwrap() error { return e.error }

// cannot marks an error as one of the kernel's.
func cannot(err error) error { return &cannotError{err} }

// whyNotHere is why the job's program is only loaded on this kernel, nil where
// there is no reason to: a driver that the suite names is not given up. floor is
// the track of the empty program that is driven the same way, which was tried.
func (j *Job) whyNotHere(floor *track) error {
	var no *cannotError
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
