package runner

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
)

// executed is what runs of a job execute. It is counted by a copy of the program
// that counts its own blocks, which is never timed.
type executed struct {
	job   *Job
	table *insn.Table
	// passes are the counts of slices that should be alike.
	passes []*insn.Counts
	// code says that lines are to have their instructions, machine what the JIT
	// made of these; see machineCode.
	code    bool
	machine map[string][]int
}

// countPasses is how often the same slice is counted: a program that does the
// same each time counts the same each time.
const countPasses = 3

// countExecuted counts a slice with as few runs as there are kinds of them.
// depths are what the verifier says of the stack; see stackDepths.
func countExecuted(j *Job, depths map[string][]int) (*executed, error) {
	spec := j.Spec.Copy()
	zeroSeeds(spec)
	table, err := insn.Instrument(spec, insn.Options{StackDepths: depths})
	if err != nil {
		return nil, err
	}
	// Nothing is timed, so the program need not be held, and a few samples of an
	// event are enough.
	s, err := openSpec(&environment{exact: true, window: exactWindow}, j, spec)
	if err != nil {
		return nil, err
	}
	// What cannot be detached now ends with the process.
	defer func() { _ = s.Close() }()
	if r, ok := s.driver.(resizer); ok {
		r.resize(func(int) int { return len(j.Frames) })
	}
	// The first runs find maps as they were filled, the others find what a run
	// has left there.
	if err := s.drive(); err != nil {
		return nil, err
	}
	e := &executed{job: j, table: table}
	before, err := table.Read(s.coll)
	for range countPasses {
		if err != nil {
			break
		}
		if err = s.drive(); err != nil {
			break
		}
		var after *insn.Counts
		if after, err = table.Read(s.coll); err == nil {
			e.passes = append(e.passes, after.Sub(before))
			before = after
		}
	}
	if err == nil && e.runs() == 0 {
		err = errors.New("not one run")
	}
	return e, err
}

// runs is how often the program ran in all passes.
func (e *executed) runs() (n uint64) {
	for _, p := range e.passes {
		n += p.Runs(e.job.Program)
	}
	return n
}

// sample is what a run executes: one value, or one a pass where they differ.
func (e *executed) sample() bench.Sample {
	s := bench.Sample{Measure: bench.BPFInsns}
	for _, p := range e.passes {
		if runs := p.Runs(e.job.Program); runs > 0 {
			s.Values = append(s.Values, round(float64(p.Total())/float64(runs)))
		}
	}
	if slices.Min(s.Values) == slices.Max(s.Values) {
		s.Values = s.Values[:1]
	}
	return s
}

// warning says why the passes differ, empty where they do not.
func (e *executed) warning() string {
	if len(e.sample().Values) == 1 {
		return ""
	}
	where, why := []string{}, []string{}
	for _, d := range insn.Diverge(e.passes...) {
		at := fmt.Sprintf("%s+%d", d.Function, d.Start)
		if d.Line != nil && d.Line.Number > 0 {
			at = fmt.Sprintf("%s:%d", d.Line.File, d.Line.Number)
		}
		where, why = append(where, at), append(why, d.Helpers...)
	}
	text := "the counts of BPF instructions differ from slice to slice"
	if len(where) > 0 {
		text += ", at " + few(unique(where))
	}
	if len(why) > 0 {
		return text + ": the program asks " + few(unique(why))
	}
	return text + ": what a run does depends on what runs before it left in maps, or on what an event interrupts"
}

func unique(all []string) []string { return slices.Compact(slices.Sorted(slices.Values(all))) }

// few names the first of many.
func few(all []string) string {
	const most = 3
	if n := len(all) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), n)
	}
	return strings.Join(all, ", ")
}

// countInsns counts what runs of the track's program execute, once in a run:
// no load changes it. That it cannot be counted is no fault of the benchmark's.
func (t *track) countInsns() {
	if !t.live() || t.floor == nil || t.counted {
		return
	}
	t.counted = true
	e, err := countExecuted(t.job, stackDepths(t.subject.coll))
	if err != nil {
		t.warn(fmt.Sprintf("the BPF instructions of a run could not be counted: %v", err))
		return
	}
	t.executed = e
	if w := e.warning(); w != "" {
		t.warn(w)
	}
}

// stackDepths are what the verifier says of the stacks of loaded programs, in
// bytes, a value for each function: where an instrumented program may spill.
func stackDepths(coll *ebpf.Collection) map[string][]int {
	depths := map[string][]int{}
	for name, p := range coll.Programs {
		depths[name] = insn.StackDepths(p.VerifierLog)
	}
	return depths
}
