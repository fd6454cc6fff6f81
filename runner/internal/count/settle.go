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

// Like describes the measured runs of a job to the runs that are counted, so
// that both find the same in maps.
type Like struct {
	// Slice is the number of runs of a slice; 0 takes the benchmark's own.
	Slice int
	// Runs is the number of measured runs, 0 if they are still to come.
	Runs uint64
	// Exact says that the clock counts instructions.
	Exact bool
}

const (
	// settleRuns is the most runs that a program may take to fill its maps
	// before its runs are counted.
	settleRuns = 1 << 23
	// settleBudget is how long that may take. If nothing holds an XDP program,
	// each call of test_run waits for all CPUs, for tens of milliseconds on a
	// busy machine, and the first calls are short ones.
	settleBudget = time.Second
)

// settler runs a program until its maps stop growing, as they do in the many
// runs that are measured. Otherwise it would count runs that put new keys into
// a map, while the measured runs find those keys, or find the map full.
type settler struct {
	s        *drive.Subject
	resizer  drive.Resizer
	measured Like
	held     []uint64
}

// newSettler returns nil for a program that can make no map grow, or whose runs
// are not alike.
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

// settle continues from the first slice with ever longer ones, because each
// look at the maps takes long, and so does each call of test_run. If slices
// find maps as they were, slices stay as long as the measured ones.
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

// grew reports whether maps hold more, or less, than the last time.
func (t *settler) grew() bool {
	before := t.held
	t.held = t.s.Holds()
	return !slices.Equal(before, t.held)
}

// addsEntries reports whether programs of a collection add or delete entries of
// maps, so that a run may change how much they hold.
func addsEntries(spec *ebpf.CollectionSpec) bool {
	for _, p := range spec.Programs {
		if object.Calls(p, asm.FnMapUpdateElem) || object.Calls(p, asm.FnMapDeleteElem) {
			return true
		}
	}
	return false
}
