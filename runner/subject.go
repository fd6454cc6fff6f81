package runner

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// subject is a program that is loaded and attached to what drives it.
type subject struct {
	coll     *ebpf.Collection
	program  *ebpf.Program
	emptiers []emptier
	driver   driver
}

// driver lets a program run.
type driver interface {
	// drive lets the program run for one slice and returns when all runs of
	// the slice have ended.
	drive() (driven, error)
	io.Closer
}

// driven is what a driver knows of a slice beside the kernel's counters.
type driven struct {
	// sent and dropped are packets; dropped ones never reached the program.
	sent, dropped uint64
	// sender is what produced the packets, empty for a driver without.
	sender string
	// retvals are the return values of the slice's test_run calls.
	retvals []uint32
}

// verified is the driver of a program that is only loaded.
type verified struct{}

func (verified) drive() (driven, error) { return driven{}, nil }
func (verified) Close() error           { return nil }

func (d *driven) addTo(r *bench.Result, runs uint64) {
	for _, v := range d.retvals {
		if r.Retvals == nil {
			r.Retvals = map[uint32]uint64{}
		}
		r.Retvals[v]++
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

func openSubject(env *environment, j *Job) (*subject, error) {
	spec := j.Spec.Copy()
	if env.exact {
		zeroSeeds(spec)
	}
	return openSpec(env, j, spec)
}

// openSpec loads what may be the job's programs in another form.
func openSpec(env *environment, j *Job, spec *ebpf.CollectionSpec) (s *subject, err error) {
	s = &subject{}
	defer func() {
		if err != nil {
			_ = s.Close()
			s = nil
		}
	}()
	if s.coll, err = loadCollection(spec); err != nil {
		return s, explainLoad(j, err)
	}
	s.program = s.coll.Programs[j.Program]
	if err = fill(s.coll, j.Spec, j.Maps); err != nil {
		return s, err
	}
	if s.emptiers, err = newEmptiers(s.coll, j.Maps); err != nil {
		return s, err
	}
	switch {
	case j.TestRun != nil:
		s.driver, err = newTestRun(env, s.program, j)
	case j.Veth != nil:
		s.driver, err = newVeth(env, s.program, j)
	case j.PerfEvent != nil:
		s.driver, err = newPerfEvent(env, s.program, j)
	case j.Verify != nil:
		s.driver = verified{}
	default:
		err = errors.New("the benchmark has no driver")
	}
	return s, err
}

// loadCollection loads a collection, with the statistics of the verifier as its
// log. If that fails, it tries again without, because the log of a refusal is
// another one.
func loadCollection(spec *ebpf.CollectionSpec) (*ebpf.Collection, error) {
	stats := ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{LogLevel: ebpf.LogLevelStats}}
	if coll, err := ebpf.NewCollectionWithOptions(spec.Copy(), stats); err == nil {
		return coll, nil
	}
	return ebpf.NewCollection(spec)
}

// empty empties the maps that a reader would.
func (s *subject) empty() error {
	for _, e := range s.emptiers {
		if err := e.empty(); err != nil {
			return fmt.Errorf("empty a map: %w", err)
		}
	}
	return nil
}

// drive empties the maps and lets the program run.
func (s *subject) drive() error {
	if err := s.empty(); err != nil {
		return err
	}
	_, err := s.driver.drive()
	return err
}

// slice empties the maps, lets the program run and reads what it was charged.
func (s *subject) slice() (slice, error) {
	if err := s.empty(); err != nil {
		return slice{}, err
	}
	before, err := readCounters(s.program)
	if err != nil {
		return slice{}, err
	}
	began := time.Now()
	driven, err := s.driver.drive()
	wall := time.Since(began)
	if err != nil {
		return slice{}, err
	}
	after, err := readCounters(s.program)
	if err != nil {
		return slice{}, err
	}
	return slice{after.since(before), driven, wall}, nil
}

// Close detaches and unloads the program.
func (s *subject) Close() error {
	var errs []error
	if s.driver != nil {
		errs = append(errs, s.driver.Close())
	}
	closeAll(s.emptiers)
	if s.coll != nil {
		s.coll.Close()
	}
	return errors.Join(errs...)
}
