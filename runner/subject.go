package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
)

// subject is a program that is loaded and attached to what drives it.
type subject struct {
	coll     *ebpf.Collection
	program  *ebpf.Program
	emptiers []bpfmap.Emptier
	unread   []*bpfmap.UnreadRing
	// replaced end what stands in for functions of the program.
	replaced []io.Closer
	driver   driver
	// hardware counts what the CPU does in a slice, nil where that says nothing
	// of the program.
	hardware *pmu.Counters
	// warning is what had to be done for the program to load here.
	warning string
}

// driver lets a program run.
type driver interface {
	// drive lets the program run for one slice and returns when all runs of
	// the slice have ended. It fails soon after ctx is cancelled.
	drive(ctx context.Context) (driven, error)
	io.Closer
}

// driven is what a driver knows of a slice beside the kernel's counters.
type driven struct {
	// sent and dropped are packets; dropped ones never reached the program.
	sent, dropped uint64
	// sender is what produced the packets, empty for a driver without.
	sender string
	// cpus is on how many CPUs the program ran at once, 0 for one.
	cpus int
	// retvals are the return values of the slice's test_run calls.
	retvals []uint32
	// tried and done are what was done for the program to see, and how much of
	// it came off.
	tried, done uint64
}

// verified is the driver of a program that is only loaded.
type verified struct{}

func (verified) drive(context.Context) (driven, error) { return driven{}, nil }
func (verified) Close() error                          { return nil }

func (d *driven) addTo(r *bench.Result, runs uint64) {
	for _, v := range d.retvals {
		if r.Retvals == nil {
			r.Retvals = map[uint32]uint64{}
		}
		r.Retvals[v]++
	}
	r.CPUs = d.cpus
	if d.tried > 0 {
		if r.Exchanged == nil {
			r.Exchanged = &bench.Exchanged{}
		}
		r.Exchanged.Tried += d.tried
		r.Exchanged.Done += d.done
	}
	if d.sender == "" {
		return
	}
	if r.Traffic == nil {
		r.Traffic = &bench.Traffic{Sender: d.sender}
	}
	r.Traffic.Sent += d.sent
	r.Traffic.Run += runs
	r.Traffic.Dropped += d.dropped
	r.Traffic.Unaccounted += int64(d.sent) - int64(runs) - int64(d.dropped)
}

func openSubject(ctx context.Context, env *environment, j *Job) (*subject, error) {
	spec := j.Spec.Copy()
	if env.exact {
		zeroSeeds(spec)
	}
	return openSpec(ctx, env, j, spec)
}

// openSpec loads what may be the job's programs in another form.
func openSpec(ctx context.Context, env *environment, j *Job, spec *ebpf.CollectionSpec) (s *subject, err error) {
	s = &subject{}
	defer func() {
		if err != nil {
			_ = s.Close()
			s = nil
		}
	}()
	err = withoutSignals(func() (err error) {
		s.coll, s.warning, err = j.load(spec)
		return err
	})
	if err != nil {
		return s, err
	}
	if s.replaced, err = j.attachReplacements(s.coll); err != nil {
		return s, err
	}
	s.program = s.coll.Programs[j.Program]
	if j.TestRun != nil && !j.Parallel {
		s.hardware = env.counters
	}
	if err = bpfmap.Fill(ctx, s.coll, j.entries); err != nil {
		return s, err
	}
	if err = prepareByPrograms(ctx, s.coll, j.preparations); err != nil {
		return s, err
	}
	if s.emptiers, err = bpfmap.NewEmptiers(ctx, s.coll, j.Maps, j.entries); err != nil {
		return s, err
	}
	if s.unread, err = bpfmap.NewUnreadRings(s.coll, j.Maps); err != nil {
		return s, err
	}
	s.driver, err = j.openDriver(ctx, env, s.program)
	return s, err
}

// empty empties the maps that a reader would, unless ctx has been cancelled.
func (s *subject) empty(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, e := range s.emptiers {
		if err := e.Empty(ctx); err != nil {
			return fmt.Errorf("empty a map: %w", err)
		}
	}
	return nil
}

// drive empties the maps and lets the program run.
func (s *subject) drive(ctx context.Context) error {
	if err := s.empty(ctx); err != nil {
		return err
	}
	_, err := s.driver.drive(ctx)
	return err
}

// slice is a slice of what the driver does, for a program on all CPUs beside one
// of the program alone.
func (s *subject) slice(ctx context.Context) (slice, error) {
	if p, ok := s.driver.(*parallel); ok {
		return p.slice(ctx, s.charge)
	}
	return s.charge(ctx)
}

// charge empties the maps, lets the program run and reads what it was charged.
func (s *subject) charge(ctx context.Context) (slice, error) {
	if err := s.empty(ctx); err != nil {
		return slice{}, err
	}
	before, err := readCounters(s.program)
	if err != nil {
		return slice{}, err
	}
	events, err := s.readHardware()
	if err != nil {
		return slice{}, err
	}
	began := time.Now()
	driven, err := s.driver.drive(ctx)
	wall := time.Since(began)
	if err != nil {
		return slice{}, err
	}
	eventsAfter, err := s.readHardware()
	if err != nil {
		return slice{}, err
	}
	after, err := readCounters(s.program)
	if err != nil {
		return slice{}, err
	}
	ran := after.since(before)
	for _, u := range s.unread {
		u.Ran(ran.runCnt)
	}
	return slice{counters: ran, driven: driven, wall: wall, events: eventsSince(eventsAfter, events)}, nil
}

// Close detaches and unloads the program.
func (s *subject) Close() error {
	var errs []error
	if s.driver != nil {
		errs = append(errs, s.driver.Close())
	}
	closeAll(s.emptiers)
	closeAll(s.unread)
	closeAll(s.replaced)
	if s.coll != nil {
		s.coll.Close()
	}
	return errors.Join(errs...)
}

func closeAll[C io.Closer](all []C) {
	for _, c := range all {
		_ = c.Close()
	}
}
