package runner

import (
	"errors"

	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// whyNotHere returns why this kernel can only load the job's program, or nil.
// It never gives up a driver that the suite names. floor is the empty
// program, on which the same way of driving was tried.
func whyNotHere(j *Job, floor *driven) error {
	var no *host.CannotError
	if j.Chosen && floor != nil && errors.As(floor.err, &no) {
		return floor.err
	}
	return nil
}

// orVerify turns a track whose driver was chosen automatically into one that
// only loads its program if this kernel cannot do what the driver does.
func (t *track) orVerify() {
	if why := whyNotHere(t.job, t.floor); why != nil {
		*t = *newTrack(t.job.ByVerify(why), nil)
	}
}
