package runner

import (
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
)

// measured is what is known of the runs that are measured when others of the same
// job are counted, so that both find maps that hold the same.
type measured struct {
	// slice is how many runs a slice has, 0 for what the benchmark says.
	slice int
	// runs is how many there were, 0 where they are still to come.
	runs uint64
	// exact says that the clock counts instructions.
	exact bool
}

const (
	// settleRuns is how many runs a program may take at most to fill its maps before
	// its runs are counted.
	settleRuns = 1 << 23
	// settleBudget is how long that may take. A call of test_run of an XDP program
	// that nothing holds waits for all CPUs, for tens of milliseconds on a busy
	// machine, and the first calls are short ones.
	settleBudget = time.Second
)

// settler lets a program run until what its maps hold has stopped to grow, as in
// the many runs that are measured: runs that put new keys into a map would be
// counted else, and timed would be those that find them, or find the map full.
type settler struct {
	s        *subject
	resizer  resizer
	measured measured
	held     []uint64
}

// newSettler is nil for a program that no map can grow by, or whose runs are not
// alike.
func newSettler(j *Job, s *subject, like measured) *settler {
	r, ok := s.driver.(resizer)
	if !ok || j.kindsOfRuns() == 0 || !addsEntries(j.Spec) && len(s.unread) == 0 {
		return nil
	}
	if like.slice == 0 {
		like.slice = j.runsPerRound()
	}
	return &settler{s, r, like, s.holds()}
}

// settle goes on from the first slice, in ever longer ones: to see what maps hold
// takes long, too, and so does each call of test_run. Where slices find maps as
// they were, they stay as long as those that are measured.
func (t *settler) settle(drive func() error) error {
	if !t.grew() {
		return nil
	}
	was := 0
	t.resizer.resize(func(now int) int { was = now; return now })
	defer t.resizer.resize(func(int) int { return was })
	most := settleRuns
	if t.measured.runs > 0 {
		most = min(most, int(t.measured.runs))
	}
	began := time.Now()
	for ran, next := 0, t.measured.slice; ran < most && time.Since(began) < settleBudget; {
		next = min(next, most-ran)
		t.resizer.resize(func(int) int { return next })
		if err := drive(); err != nil {
			return err
		}
		if !t.grew() {
			break
		}
		if ran += next; !bpfmap.StartOver(t.s.emptiers) {
			next *= 2
		}
	}
	return nil
}

// grew tells whether maps hold more than at the last time, or less.
func (t *settler) grew() bool {
	before := t.held
	t.held = t.s.holds()
	return !slices.Equal(before, t.held)
}

// holds is how much is in the maps of which that can be told.
func (s *subject) holds() (all []uint64) {
	for _, f := range bpfmap.Fills(s.coll) {
		all = append(all, uint64(f.Entries))
	}
	for _, u := range s.unread {
		all = append(all, u.Pending())
	}
	return all
}

// addsEntries tells whether programs of a collection write to maps or delete what
// is there, so that there may be more in them or less after a run.
func addsEntries(spec *ebpf.CollectionSpec) bool {
	for _, p := range spec.Programs {
		if calls(p, asm.FnMapUpdateElem) || calls(p, asm.FnMapDeleteElem) {
			return true
		}
	}
	return false
}
