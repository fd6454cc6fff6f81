package runner

import (
	"errors"

	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// whyNotHere is why the job's program is only loaded on this kernel, nil where
// there is no reason to: a driver that the suite names is not given up. floor is
// the track of the empty program that is driven the same way, which was tried.
func whyNotHere(j *Job, floor *track) error {
	var no *host.CannotError
	if j.Chosen && floor != nil && errors.As(floor.err, &no) {
		return floor.err
	}
	return nil
}

// orVerify makes of a track whose driver was chosen for it one that only loads
// its program, where this kernel cannot do what the driver does.
func (t *track) orVerify() {
	if why := whyNotHere(t.job, t.floor); why != nil {
		*t = *newTrack(t.job.ByVerify(why), nil)
	}
}
