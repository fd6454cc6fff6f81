// Package count counts the BPF instructions that runs of a job execute, and
// attributes them to lines of source.
package count

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/insn/srcline"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// Executed holds the counts of what runs of a job execute. They come from a
// copy of the program that counts its own blocks and is never timed.
type Executed struct {
	job   *plan.Job
	table *insn.Table
	// opening is the first slice, which finds maps as they were filled, and first
	// are the counts of all slices before the passes.
	opening pass
	first   *insn.Counts
	// kinds are the kinds of runs; see Kinds.
	kinds []bench.Kind
	// opens says that the first slice executes other than the passes do, whenever
	// the program is loaded.
	opens bool
	// Fills are the fill levels of maps before the passes, if runs change them.
	Fills []bench.MapFill
	// passes are the counts of slices that should be alike, looks those of many runs
	// each after them, if runs may differ, and aged those of as many runs after very
	// many others.
	passes, looks, aged []pass
	// waited is how long reading waited for runs that were held up.
	waited time.Duration
	// total are the counts of all passes and looks together, after those of what came
	// between them and last, the latest counts.
	total, after, last *insn.Counts
	// failed are the tail calls that did not happen; of those in unclear, some
	// or all did not.
	failed, unclear []failedTailCall
	// code adds instructions to the lines; machine counts what the JIT compiled
	// each to; see machineCode.
	code    bool
	machine map[string][]int
}

// Count counts slices with as few runs as there are kinds of them, or, where
// each slice finds maps as they were, with as many as are measured. depths are
// the stack depths that the verifier reports; see StackDepths.
func Count(ctx context.Context, j *plan.Job, depths map[string][]int, like Like) (*Executed, error) {
	spec := j.Spec.Copy()
	subject.ZeroSeeds(spec)
	table, err := insn.Instrument(spec, insn.Options{Placement: placementOf(j), StackDepths: depths, Skip: companions(j)})
	if err != nil {
		return nil, notInstrumented(err)
	}
	s, closeAll, err := open(ctx, j, spec, !like.Exact)
	if err != nil {
		return nil, notLoaded(j.Program, err)
	}
	defer closeAll()
	if r, ok := s.Driver.(driver.Resizer); ok {
		switch {
		case !bpfmap.StartOver(s.Emptiers):
			r.Resize(func(int) int { return max(j.KindsOfRuns(), 1) })
		case j.KindsOfRuns() == 0:
		case like.Slice > 0:
			r.Resize(func(int) int { return like.Slice })
		default:
			slice := func() error { return s.Drive(ctx) }
			if err := slice(); err != nil {
				return nil, err
			}
			if _, err := s.MakeRoom(slice); err != nil {
				return nil, err
			}
		}
	}
	e := &Executed{job: j, table: table}
	read, closeReader, err := e.reader(s)
	if err != nil {
		return nil, err
	}
	defer closeReader()
	if err := e.count(ctx, s, read); err != nil {
		return nil, err
	}
	if e.runs() == 0 {
		return nil, bench.WithHint(errors.New("not one run"), j.NeverRan())
	}
	if err := e.sortRuns(ctx, s); err != nil {
		return nil, err
	}
	all := e.all()
	e.total = all[0].counts
	for _, p := range all[1:] {
		e.total = e.total.Add(p.counts)
	}
	e.findFailedTailCalls(s.Coll)
	if err := e.age(ctx, s, read); err != nil {
		return nil, err
	}
	if e.opens = j.Settles() && !bpfmap.StartOver(s.Emptiers) && e.opensApart(); !e.opens {
		return e, nil
	}
	// Only what the first runs after other loads execute, too, is not chance.
	for range againOpened {
		same, err := e.opensAlike(ctx, spec, !like.Exact)
		if err != nil {
			return nil, err
		}
		e.opens = e.opens && same
	}
	return e, nil
}

// againOpened is how often a program is loaded again to see whether its first runs
// execute the same.
const againOpened = 2

// opensApart reports whether the first run of each input executes fewer instructions
// than the passes did, or more. The runs of a first message are not the first ones if there
// are more or fewer of them than of another.
func (e *Executed) opensApart() bool {
	if slices.ContainsFunc(e.passes, func(p pass) bool { return p.runs != e.opening.runs }) {
		return false
	}
	first := e.opening.perRun(e.opening.counts.Total())
	values := e.Sample().Values
	return first < values[0] || first > values[len(values)-1]
}

// opensAlike reports whether the first runs of another load execute as much.
func (e *Executed) opensAlike(ctx context.Context, spec *ebpf.CollectionSpec, late bool) (bool, error) {
	s, closeAll, err := open(ctx, e.job, spec, late)
	if err != nil {
		return false, notLoaded(e.job.Program, err)
	}
	defer closeAll()
	if r, ok := s.Driver.(driver.Resizer); ok {
		r.Resize(func(int) int { return max(e.job.KindsOfRuns(), 1) })
	}
	if err := s.Drive(ctx); err != nil {
		return false, err
	}
	counts, err := e.table.Read(s.Coll)
	return err == nil && counts.Total() == e.opening.counts.Total(), err
}

// Opening returns how many BPF instructions a run executes that finds maps as they
// were prepared, or nil if that is what Sample says, or chance.
func (e *Executed) Opening() *bench.Sample {
	if !e.opens {
		return nil
	}
	return &bench.Sample{Measure: bench.BPFInsnsFirst, Values: []float64{e.opening.perRun(e.opening.counts.Total())}}
}

// open loads a form of a job's programs for runs that are not timed, and attaches
// it. late delays holding an XDP program; see driver.Environment.
func open(ctx context.Context, j *plan.Job, spec *ebpf.CollectionSpec, late bool) (s *subject.Subject, closeAll func(), err error) {
	// A few samples of an event are enough.
	env := &driver.Environment{Exact: true, Late: late, Counters: &pmu.Counters{}, Window: driver.ExactWindow}
	if s, err = subject.OpenSpec(ctx, env, j, spec); err == nil {
		if err = s.Attach(ctx); err != nil {
			_ = s.Close()
		}
	}
	if err != nil {
		_ = env.Close()
		return nil, nil, err
	}
	return s, func() {
		// If something cannot be detached now, it ends with the process.
		_ = s.Close()
		_ = env.Close()
	}, nil
}

// companions returns the names of the programs whose instructions do not count.
func companions(j *plan.Job) (names []string) {
	for _, c := range j.Companions {
		names = append(names, c.Program)
	}
	return names
}

// placementOf returns where to place the job's counters: in every block if runs
// of others may be in progress while they are read. The counts of blocks
// without a counter follow from the others only once a run has ended.
func placementOf(j *plan.Job) insn.Placement {
	if k := j.Kind(); k.InOthers != nil && k.InOthers(j) {
		return insn.EveryBlock
	}
	return insn.Minimal
}

// all returns the passes and the looks.
func (e *Executed) all() []pass { return slices.Concat(e.passes, e.looks) }

// runs returns how often the program ran in all passes and looks.
func (e *Executed) runs() (n uint64) {
	for _, p := range e.all() {
		n += p.runs
	}
	return n
}

// Samples returns all that was counted: what a run executes, what it leaves for later, and
// what a run executes that finds maps as they were prepared, or as very many left them.
func (e *Executed) Samples() []bench.Sample {
	all := []bench.Sample{e.Sample()}
	for _, s := range []*bench.Sample{e.LaterSample(), e.Opening(), e.Aged()} {
		if s != nil {
			all = append(all, *s)
		}
	}
	return all
}

// Sample returns what a run executes. If passes differ, its values are the
// fewest, the mean and the most: this centers the values on the mean and shows
// that they are not exact.
func (e *Executed) Sample() bench.Sample {
	s := bench.Sample{Measure: bench.BPFInsns}
	mean := e.perRun(e.total.Total())
	if spread := e.spread(func(p pass) uint64 { return p.counts.Total() }); spread != nil {
		s.Values = []float64{spread.Least, mean, spread.Most}
	} else {
		s.Values = []float64{mean}
	}
	return s
}

// spread returns the range of what the passes and the looks count per run, or nil if all
// are alike.
func (e *Executed) spread(of func(pass) uint64) *bench.Spread {
	var all []float64
	for _, p := range e.all() {
		if p.runs > 0 {
			all = append(all, p.perRun(of(p)))
		}
	}
	least, most := slices.Min(all), slices.Max(all)
	if least == most {
		return nil
	}
	return &bench.Spread{Least: least, Most: most}
}

// counts returns the counts of the passes that differ from the one before.
func counts(passes []pass) (all []*insn.Counts) {
	for i, p := range passes {
		if i == 0 || p.counts != passes[i-1].counts {
			all = append(all, p.counts)
		}
	}
	return all
}

// Warning returns why the passes differ, or "" if they do not.
func (e *Executed) Warning() string {
	values := e.Sample().Values
	if len(values) == 1 {
		return ""
	}
	where, why := []string{}, []string{}
	for _, d := range append(insn.Diverge(counts(e.passes)...), insn.Diverge(counts(e.looks)...)...) {
		at := fmt.Sprintf("%s+%d", d.Function, d.Slot)
		if l := srcline.At(e.table.Program(d.Program), d.Start); l != nil && l.Number > 0 {
			at = fmt.Sprintf("%s:%d", l.File, l.Number)
		}
		where, why = append(where, at), append(why, d.Helpers...)
	}
	text := fmt.Sprintf("the BPF instructions of a run are just a mean: runs with the same input execute from %s to %s on average", unit.Mean(values[0]), unit.Mean(values[2]))
	if len(where) > 0 {
		text += ", at " + unit.Few(unique(where))
	}
	if len(why) > 0 {
		return text + ": that depends on the results of " + unit.Few(unique(why))
	}
	return text + ": that depends on what earlier runs left in maps, or on what an event interrupts"
}

func unique(all []string) []string { return slices.Compact(slices.Sorted(slices.Values(all))) }

// Like describes the measured runs of a job to the runs that are counted, so
// that both find the same in maps.
type Like struct {
	// Slice is the number of runs of a slice; 0 takes the benchmark's own.
	Slice int
	// Exact says that the clock counts instructions.
	Exact bool
}

// StackDepths returns the stack depths that the verifier reports for loaded
// programs, in bytes, one per function: below them, an instrumented program may
// spill.
func StackDepths(coll *ebpf.Collection) map[string][]int {
	depths := map[string][]int{}
	for name, p := range coll.Programs {
		depths[name] = insn.StackDepths(p.VerifierLog)
	}
	return depths
}
