package count

import (
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/drive"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// Like is what is known of the runs that are measured when others of the same
// job are counted, so that both find maps that hold the same.
type Like struct {
	// Slice is how many runs a slice has, 0 for what the benchmark says.
	Slice int
	// Runs is how many there were, 0 where they are still to come.
	Runs uint64
	// Exact says that the clock counts instructions.
	Exact bool
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
	s        *drive.Subject
	resizer  drive.Resizer
	measured Like
	held     []uint64
}

// newSettler is nil for a program that no map can grow by, or whose runs are not
// alike.
func newSettler(j *plan.Job, s *drive.Subject, like Like) *settler {
	r, ok := s.Driver.(drive.Resizer)
	if !ok || j.KindsOfRuns() == 0 || !addsEntries(j.Spec) && len(s.Unread) == 0 {
		return nil
	}
	if like.Slice == 0 {
		like.Slice = j.RunsPerRound()
	}
	return &settler{s, r, like, s.Holds()}
}

// settle goes on from the first slice, in ever longer ones: to see what maps hold
// takes long, too, and so does each call of test_run. Where slices find maps as
// they were, they stay as long as those that are measured.
func (t *settler) settle(drive func() error) error {
	if !t.grew() {
		return nil
	}
	was := 0
	t.resizer.Resize(func(now int) int { was = now; return now })
	defer t.resizer.Resize(func(int) int { return was })
	most := settleRuns
	if t.measured.Runs > 0 {
		most = min(most, int(t.measured.Runs))
	}
	began := time.Now()
	for ran, next := 0, t.measured.Slice; ran < most && time.Since(began) < settleBudget; {
		next = min(next, most-ran)
		t.resizer.Resize(func(int) int { return next })
		if err := drive(); err != nil {
			return err
		}
		if !t.grew() {
			break
		}
		if ran += next; !bpfmap.StartOver(t.s.Emptiers) {
			next *= 2
		}
	}
	return nil
}

// grew reports whether maps hold more than at the last time, or less.
func (t *settler) grew() bool {
	before := t.held
	t.held = t.s.Holds()
	return !slices.Equal(before, t.held)
}

// addsEntries reports whether programs of a collection write to maps or delete what
// is there, so that there may be more in them or less after a run.
func addsEntries(spec *ebpf.CollectionSpec) bool {
	for _, p := range spec.Programs {
		if object.Calls(p, asm.FnMapUpdateElem) || object.Calls(p, asm.FnMapDeleteElem) {
			return true
		}
	}
	return false
}
