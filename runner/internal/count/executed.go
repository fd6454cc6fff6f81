// Package count counts the BPF instructions that runs of a job execute, and says which
// lines of source they are of.
package count

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/insn/srcline"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/drive"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// Executed is what runs of a job execute. It is counted by a copy of the program
// that counts its own blocks, which is never timed.
type Executed struct {
	job   *plan.Job
	table *insn.Table
	// first are the counts of the first slices, which find maps as they were filled.
	// They are of no figure.
	first *insn.Counts
	// Fills are how full maps were before the passes, where runs change this.
	Fills []bench.MapFill
	// passes are the counts of slices that should be alike.
	passes []pass
	// total are the counts of all passes.
	total *insn.Counts
	// failed are the tail calls that did not happen. Of those that are unclear some
	// did not, or all.
	failed, unclear []failedTailCall
	// code says that lines are to have their instructions, machine what the JIT
	// made of these; see machineCode.
	code    bool
	machine map[string][]int
}

// Count counts slices with as few runs as there are kinds of them, or with
// as many as are measured where each slice finds maps as they were. depths are
// what the verifier says of the stack; see stackDepths.
func Count(ctx context.Context, j *plan.Job, depths map[string][]int, like Like) (*Executed, error) {
	spec := j.Spec.Copy()
	drive.ZeroSeeds(spec)
	table, err := insn.Instrument(spec, insn.Options{Placement: placementOf(j), StackDepths: depths})
	if err != nil {
		return nil, notInstrumented(err)
	}
	// Nothing is timed, so a few samples of an event are enough.
	env := &drive.Environment{Exact: true, Late: !like.Exact, Counters: &pmu.Counters{}, Window: drive.ExactWindow}
	defer func() { _ = env.Close() }()
	s, err := drive.OpenSpec(ctx, env, j, spec)
	if err != nil {
		return nil, notLoaded(j.Program, err)
	}
	// What cannot be detached now ends with the process.
	defer func() { _ = s.Close() }()
	if r, ok := s.Driver.(drive.Resizer); ok {
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
	if err := e.count(ctx, s, newSettler(j, s, like)); err != nil {
		return nil, err
	}
	if e.runs() == 0 {
		return nil, bench.WithHint(errors.New("not one run"), j.NeverRan())
	}
	e.total = e.passes[0].counts
	for _, p := range e.passes[1:] {
		e.total = e.total.Add(p.counts)
	}
	e.findFailedTailCalls(s.Coll)
	return e, nil
}

// placement is where the job's counters are: in every block where runs of others
// may be under way while they are read, because the counts of blocks without a
// counter follow from the others only once a run has ended.
func placementOf(j *plan.Job) insn.Placement {
	if j.Command != nil || j.PerfEvent != nil && j.PerfEvent.Scope == bench.ScopeAll {
		return insn.EveryBlock
	}
	return insn.Minimal
}

// runs is how often the program ran in all passes.
func (e *Executed) runs() (n uint64) {
	for _, p := range e.passes {
		n += p.runs
	}
	return n
}

// Sample is what a run executes. Where passes differ it is the fewest, the mean and
// the most: so the mean is the center of the values, and it can be seen that they
// are not exact count.
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

// spread is what the passes count of something in a run, nil where all are alike.
func (e *Executed) spread(of func(pass) uint64) *bench.Spread {
	var all []float64
	for _, p := range e.passes {
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

// counts are those of the passes that differ from the one before.
func (e *Executed) counts() (all []*insn.Counts) {
	for i, p := range e.passes {
		if i == 0 || p.counts != e.passes[i-1].counts {
			all = append(all, p.counts)
		}
	}
	return all
}

// Warning says why the passes differ, empty where they do not.
func (e *Executed) Warning() string {
	values := e.Sample().Values
	if len(values) == 1 {
		return ""
	}
	where, why := []string{}, []string{}
	for _, d := range insn.Diverge(e.counts()...) {
		at := fmt.Sprintf("%s+%d", d.Function, d.Slot)
		if l := srcline.At(e.table.Program(d.Program), d.Start); l != nil && l.Number > 0 {
			at = fmt.Sprintf("%s:%d", l.File, l.Number)
		}
		where, why = append(where, at), append(why, d.Helpers...)
	}
	text := fmt.Sprintf("the BPF instructions of a run are just a mean: runs with the same input execute from %s to %s", unit.Mean(values[0]), unit.Mean(values[2]))
	if len(where) > 0 {
		text += ", at " + unit.Few(unique(where))
	}
	if len(why) > 0 {
		return text + ": the program asks " + unit.Few(unique(why))
	}
	return text + ": what a run does depends on what runs before it left in maps, or on what an event interrupts"
}

func unique(all []string) []string { return slices.Compact(slices.Sorted(slices.Values(all))) }

// StackDepths are what the verifier says of the stacks of loaded programs, in
// bytes, a value for each function: where an instrumented program may spill.
func StackDepths(coll *ebpf.Collection) map[string][]int {
	depths := map[string][]int{}
	for name, p := range coll.Programs {
		depths[name] = insn.StackDepths(p.VerifierLog)
	}
	return depths
}
