// Package subject loads the program of a job, attaches it to a driver, and runs
// it slice by slice.
package subject

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
	"github.com/org/ebpf-bench-action/runner/internal/load"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// Subject is a program that is loaded and attached to its driver.
type Subject struct {
	Coll     *ebpf.Collection
	Program  *ebpf.Program
	Emptiers []bpfmap.Emptier
	Unread   []*bpfmap.UnreadRing
	// replacements are the replacements of its functions.
	replacements []io.Closer
	// companions are to be attached with it, attached those that are.
	companions []attachable
	attached   []io.Closer
	Driver     driver.Driver
	// Hardware counts CPU events in a slice. It is nil if they would say
	// nothing about the program.
	Hardware *pmu.Counters
	// Warning says what had to be changed for the program to load here.
	Warning string
}

// Open loads a job's program and readies its driver; Attach attaches the program
// to a hook that it shares with others. It must be called on the thread of the
// environment.
func Open(ctx context.Context, env *driver.Environment, j *plan.Job) (*Subject, error) {
	spec := j.Spec.Copy()
	if env.Exact {
		ZeroSeeds(spec)
	}
	return OpenSpec(ctx, env, j, spec)
}

// OpenSpec is like Open but loads spec, which may be another form of the job's
// programs.
func OpenSpec(ctx context.Context, env *driver.Environment, j *plan.Job, spec *ebpf.CollectionSpec) (s *Subject, err error) {
	if s, err = Load(ctx, j, spec); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.Close()
			s = nil
		}
	}()
	if j.Kind().OnThread && !j.Parallel {
		s.Hardware = env.Counters
	}
	for _, c := range j.Companions {
		opened, err := env.Open(c.Hook)
		if err != nil {
			return s, cannotAttach(c, err)
		}
		s.companions = append(s.companions, attachable{c, opened})
	}
	s.Driver, err = j.Kind().Open(ctx, env, s.Program, j)
	return s, err
}

// Load loads spec, which may be another form of the job's programs, and prepares its
// maps, but readies nothing that drives it.
func Load(ctx context.Context, j *plan.Job, spec *ebpf.CollectionSpec) (s *Subject, err error) {
	s = &Subject{}
	defer func() {
		if err != nil {
			_ = s.Close()
			s = nil
		}
	}()
	err = thread.WithoutSignals(func() (err error) {
		s.Coll, s.Warning, err = LoadJob(j, spec)
		return err
	})
	if err != nil {
		return s, err
	}
	if s.replacements, err = attachReplacements(j, s.Coll); err != nil {
		return s, err
	}
	s.Program = s.Coll.Programs[j.Program]
	if err = bpfmap.Fill(ctx, s.Coll, j.Entries); err != nil {
		return s, err
	}
	if err = prepareByPrograms(ctx, s.Coll, j.Preparations); err != nil {
		return s, err
	}
	if s.Emptiers, err = bpfmap.NewEmptiers(ctx, s.Coll, j.Maps, j.Entries); err != nil {
		return s, err
	}
	s.Unread, err = bpfmap.NewUnreadRings(s.Coll, j.Maps)
	return s, err
}

// attachable is a companion of the subject and the hook that takes it.
type attachable struct {
	plan.Companion
	on hook.Opened
}

func cannotAttach(c plan.Companion, err error) error {
	return bench.WithHint(fmt.Errorf("attach program %s to %s: %w", c.Program, c.Hook.Section, err), bench.Hint(err))
}

// SharesHook reports whether the program runs only between Attach and Detach,
// because its hook is not its own: whatever else is attached there would run, too.
func (s *Subject) SharesHook() bool {
	_, ok := s.Driver.(driver.Attacher)
	return ok || len(s.companions) > 0
}

// Attach attaches the program to a hook that it shares with others, after its
// companions.
func (s *Subject) Attach(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			_ = s.Detach()
		}
	}()
	for _, c := range s.companions {
		attached, err := c.on.Attach(s.Coll.Programs[c.Program])
		if err != nil {
			return cannotAttach(c.Companion, err)
		}
		s.attached = append(s.attached, attached)
	}
	if a, ok := s.Driver.(driver.Attacher); ok {
		return a.Attach(ctx)
	}
	return nil
}

// Detach removes what Attach attached.
func (s *Subject) Detach() (err error) {
	if a, ok := s.Driver.(driver.Attacher); ok {
		err = a.Detach()
	}
	for _, c := range s.attached {
		err = errors.Join(err, c.Close())
	}
	s.attached = nil
	return err
}

// empty empties the maps that a reader would empty, unless ctx has been
// cancelled.
func (s *Subject) empty(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, e := range s.Emptiers {
		if err := e.Empty(ctx); err != nil {
			return fmt.Errorf("empty a map: %w", err)
		}
	}
	return nil
}

// Drive empties the maps and lets the program run.
func (s *Subject) Drive(ctx context.Context) error {
	if err := s.empty(ctx); err != nil {
		return err
	}
	_, err := s.Driver.Drive(ctx)
	return err
}

// settleSlice is how many runs there are between two times of emptying maps while
// a program settles.
const settleSlice = 1 << 10

// Settle drives the program until it has run this many times: by as few slices as
// possible, or by slices of the same length in every mode if maps are emptied
// between them.
func (s *Subject) Settle(ctx context.Context, runs int) error {
	r, ok := s.Driver.(driver.Resizer)
	if !ok || runs == 0 {
		return nil
	}
	was, slice := 0, runs
	if len(s.Emptiers) > 0 {
		slice = min(runs, settleSlice)
	}
	r.Resize(func(now int) int { was = now; return slice })
	defer r.Resize(func(int) int { return was })
	for n := 0; n < runs; n += slice {
		if err := s.Drive(ctx); err != nil {
			return err
		}
	}
	return nil
}

// parallelTries is how often to try for a slice in which the CPUs run at the same time:
// other activity on the machine keeps them apart now and then.
const parallelTries = 4

// Slice runs the driver for one slice. A program on all CPUs first gets a slice
// of running alone.
func (s *Subject) Slice(ctx context.Context) (Slice, error) {
	together, ok := s.Driver.(driver.Together)
	if !ok {
		return s.charge(ctx)
	}
	together.Alone(true)
	alone, err := s.charge(ctx)
	together.Alone(false)
	if err != nil {
		return Slice{}, err
	}
	var all Slice
	for range parallelTries {
		if all, err = s.charge(ctx); err != nil || !together.Apart() {
			break
		}
	}
	all.Alone, all.Apart = &alone, together.Apart()
	return all, err
}

// charge empties the maps, lets the program run and reads what the kernel
// charged it.
func (s *Subject) charge(ctx context.Context) (Slice, error) {
	if err := s.empty(ctx); err != nil {
		return Slice{}, err
	}
	before, err := driver.ReadCounters(s.Program)
	if err != nil {
		return Slice{}, err
	}
	events, err := s.readHardware()
	if err != nil {
		return Slice{}, err
	}
	began := time.Now()
	driven, err := s.Driver.Drive(ctx)
	wall := time.Since(began)
	if err != nil {
		return Slice{}, err
	}
	eventsAfter, err := s.readHardware()
	if err != nil {
		return Slice{}, err
	}
	after, err := driver.ReadCounters(s.Program)
	if err != nil {
		return Slice{}, err
	}
	ran := after.Since(before)
	for _, u := range s.Unread {
		u.Ran(ran.RunCnt)
	}
	return Slice{Counters: ran, Driven: driven, Wall: wall, Events: EventsSince(eventsAfter, events)}, nil
}

// Close detaches and unloads the program.
func (s *Subject) Close() error {
	var errs []error
	if s.Driver != nil {
		errs = append(errs, s.Driver.Close())
	}
	driver.CloseAll(s.Emptiers)
	driver.CloseAll(s.Unread)
	driver.CloseAll(s.attached)
	driver.CloseAll(s.replacements)
	if s.Coll != nil {
		load.Close(s.Coll)
	}
	return errors.Join(errs...)
}

// Slice holds the measurements of one track in one round.
type Slice struct {
	driver.Counters
	driver.Driven
	Wall time.Duration
	// Events are the CPU's events, in the order of the hardware counters.
	Events []float64
	// Alone is the slice on one CPU that precedes one on all CPUs. Apart
	// reports that those did not really run at the same time.
	Alone *Slice
	Apart bool
}

// AddTo adds the slice to the counters of rounds.
func (s *Slice) AddTo(c *bench.Counters, load int) {
	c.Add(load, s.RunTimeNS, s.RunCnt, uint64(s.Wall.Nanoseconds()), s.RecursionMisses)
}

// MakeRoom halves slices until the latest has filled no map that is emptied
// between them: running with a full map would be another benchmark. It reports
// whether the maps have room for some slice, down to the shortest.
func (s *Subject) MakeRoom(slice func() error) (bool, error) {
	for {
		full, err := s.fillsMaps()
		if err != nil || !full {
			return err == nil, err
		}
		r, ok := s.Driver.(driver.Resizer)
		if !ok {
			return false, nil
		}
		was, is := 0, 0
		r.Resize(func(now int) int { was = now; return now / 2 })
		r.Resize(func(now int) int { is = now; return now })
		if is >= was {
			return false, nil
		}
		if err := slice(); err != nil {
			return false, err
		}
	}
}

// fillsMaps reports whether the latest slice has filled a map.
func (s *Subject) fillsMaps() (bool, error) {
	for _, e := range s.Emptiers {
		full, err := e.Full()
		if err != nil {
			return false, fmt.Errorf("count what is in a map: %w", err)
		}
		if full {
			return true, nil
		}
	}
	return false, nil
}

// readHardware reads the counters, or returns nil if there are none.
func (s *Subject) readHardware() ([]pmu.Reading, error) {
	if s.Hardware == nil {
		return nil, nil
	}
	return s.Hardware.Read()
}

// EventsSince returns how many events there were between two readings of the
// same counters, NaN for each that was not counted.
func EventsSince(after, before []pmu.Reading) []float64 {
	var events []float64
	for i := range after {
		n, ok := after[i].Since(before[i])
		if !ok {
			n = math.NaN()
		}
		events = append(events, n)
	}
	return events
}

// ZeroSeeds makes hash maps hash the same way in each run: the elements that
// share a bucket determine part of the cost of a lookup.
func ZeroSeeds(spec *ebpf.CollectionSpec) {
	for _, m := range spec.Maps {
		// A map of maps takes only maps with the flags of its template.
		for ; m != nil; m = m.InnerMap {
			switch m.Type {
			case ebpf.Hash, ebpf.PerCPUHash, ebpf.LRUHash, ebpf.LRUCPUHash, ebpf.HashOfMaps:
				m.Flags |= unix.BPF_F_ZERO_SEED
			}
		}
	}
}

// Holds returns the number of elements in each map that can report it.
func (s *Subject) Holds() (all []uint64) {
	for _, f := range bpfmap.Fills(s.Coll) {
		all = append(all, uint64(f.Entries))
	}
	for _, u := range s.Unread {
		all = append(all, u.Pending())
	}
	return all
}

// Repeats returns the driver if its runs can share a call, or nil, and what empties the
// maps between slices.
func (s *Subject) Repeats(ctx context.Context) (r driver.Repeater, empty func() error) {
	r, _ = s.Driver.(driver.Repeater)
	return r, func() error { return s.empty(ctx) }
}
