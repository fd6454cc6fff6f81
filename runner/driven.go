package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// driven is the program of a job while a driver lets it run, slice by slice, through all the
// loads of a run: the program of a benchmark, or the empty program of a floor.
type driven struct {
	job      *Job
	subject  *subject.Subject // nil unless it is loaded
	runs     int              // of a slice, once lengthened
	slow     bool             // its slices were shortened to longSlice
	size     int              // of a slice in exact mode, in the driver's unit; 0 if it has none
	wall     time.Duration    // of one slice, including resetting maps, from the pilot
	err      error
	warnings []string

	last  subject.Slice   // the latest
	taken []subject.Slice // those of the latest turn, until they are recorded
	ran   uint64          // runs of all slices

	// dependsOn is on what of its input a run depends although runs share calls, or "":
	// what was measured is then of other inputs.
	dependsOn string

	// settled says that its runs of this load have settled.
	settled bool
}

// warn adds a warning, unless it is there already.
func (d *driven) warn(text string) {
	if !slices.Contains(d.warnings, text) {
		d.warnings = append(d.warnings, text)
	}
}

func (d *driven) open(ctx context.Context, env *driver.Environment) {
	if d.err != nil {
		return
	}
	d.settled = false
	d.subject, d.err = subject.Open(ctx, env, d.job)
	if d.err != nil && ctx.Err() != nil {
		d.err = nil
		return
	}
	if d.err == nil && d.subject.Warning != "" {
		d.warn(d.subject.Warning)
	}
	if env.NotHeld != nil {
		d.warn(fmt.Sprintf("calling the program takes some nanoseconds longer: %v", env.NotHeld))
		env.NotHeld = nil
	}
}

func (d *driven) close() {
	if d.subject != nil {
		// If something cannot be detached now, it ends with the process, and no
		// measurement depends on it.
		_ = d.subject.Close()
		d.subject = nil
	}
}

func (d *driven) live() bool { return d.subject != nil && d.err == nil }

// attached calls do with the program attached to its hook, and returns how long
// attaching and detaching took. A hook that programs share has one of the tool's at
// a time, so that none is measured with another.
func (d *driven) attached(ctx context.Context, do func()) (attaching time.Duration) {
	if !d.live() {
		return 0
	}
	began := time.Now()
	if err := d.subject.Attach(ctx); err != nil {
		if ctx.Err() == nil {
			d.err = err
		}
		return 0
	}
	attaching = time.Since(began)
	do()
	began = time.Now()
	if err := d.subject.Detach(); err != nil && d.err == nil {
		d.err = fmt.Errorf("detach: %w", err)
	}
	return attaching + time.Since(began)
}

// slice lets the program run for one slice. A slice that ctx cuts off is not a
// fault of the benchmark.
func (d *driven) slice(ctx context.Context) {
	if !d.live() {
		return
	}
	last, err := d.subject.Slice(ctx)
	if ctx.Err() == nil {
		d.last, d.err = last, err
		d.ran += last.RunCnt
	}
}

// settle lets the program run as often as it does in every mode before it is
// measured, once in a load.
func (d *driven) settle(ctx context.Context) {
	if !d.live() || d.settled {
		return
	}
	d.settled = true
	if err := d.subject.Settle(ctx, d.job.Settle); ctx.Err() == nil {
		d.err = err
	}
}

// strays notes on what of its input a run turns out to depend, which others in its call
// rarely change.
func (d *driven) strays(ctx context.Context) {
	if !d.live() || d.dependsOn != "" {
		return
	}
	r, empty := d.subject.Repeats(ctx)
	if r == nil {
		return
	}
	on, err := r.StraysInSlice(empty)
	if ctx.Err() == nil {
		d.dependsOn, d.err = on, err
	}
}

// warmUpTime is how long a program runs before it is measured: the first runs
// after a load are slow, and a CPU that was idle takes a while to wake up.
const warmUpTime = 5 * time.Millisecond

func (d *driven) warmUp(ctx context.Context) {
	for began := time.Now(); d.live() && ctx.Err() == nil && time.Since(began) < warmUpTime; {
		d.slice(ctx)
	}
}

// pilotTime is when a pilot stops starting further slices: a slice that long
// hides short disturbances of the machine.
const pilotTime = 500 * time.Millisecond

// pilot measures how long a slice takes, including its preparation: the median
// of three, or of fewer if they are long.
func (d *driven) pilot(ctx context.Context) {
	var walls []time.Duration
	for began := time.Now(); len(walls) == 0 || len(walls) < 3 && time.Since(began) < pilotTime; {
		before := time.Now()
		d.slice(ctx)
		walls = append(walls, time.Since(before))
	}
	slices.Sort(walls)
	d.wall = walls[len(walls)/2]
}
