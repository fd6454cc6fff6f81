package runner

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/internal/workload/network"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	"github.com/org/ebpf-bench-action/runner/internal/load"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
	"github.com/org/ebpf-bench-action/runner/internal/search"
)

// SearchOptions bound the search of each program.
type SearchOptions struct {
	// Runs is how many inputs are tried, and Time for how long. If either is 0, the other
	// decides; one of them must not be. In exact mode, whose clock tells no time, Runs
	// alone decides, and 0 means 20,000.
	Runs int
	Time time.Duration
	Seed uint64
	// Timed is how many of the inputs that cost most are timed, besides the default one. In
	// exact mode the machine instructions of their runs are counted instead.
	Timed int
	// Progress, unless nil, is called a few times a second.
	Progress func(SearchProgress) `json:"-"`
	// Save, unless nil, is called with what was found so far after each program.
	Save func(*bench.Search) `json:"-"`
}

// exactSearchRuns is how many inputs are tried in exact mode by default. An emulated
// processor tries a few thousand a second.
const exactSearchRuns = 20_000

// SearchProgress is how far a search has come.
type SearchProgress struct {
	// Program is the number of the program, from 0.
	Program int
	// Tried is how many inputs were tried, Reached how many blocks they reached, and Most
	// how many BPF instructions a run executed at most.
	Tried, Reached int
	Most           float64
	// Counted is how many of the inputs that were found have been counted again, of
	// Inputs; it is 0 of 0 before.
	Counted, Inputs int
	// Timing is how many of the inputs are being timed, 0 before.
	Timing int
}

// Search looks for the inputs on which programs cost most, and for those that reach all of
// them: by BPF_PROG_RUN of copies that count what they execute, one input after the other.
// It counts those that it returns once more, each from a fresh load.
//
// Programs that fail carry their errors. A search that ended early comes with the error
// that ended it, and with what was found until then.
func Search(ctx context.Context, programs []SearchJob, o Options, s SearchOptions) (*bench.Search, error) {
	if err := prepare(ctx, &o); err != nil {
		return nil, err
	}
	if o.Mode == bench.ModeExact {
		s.Runs, s.Time = cmp.Or(s.Runs, exactSearchRuns), 0
	}
	out := &bench.Search{Tool: o.Tool, Testbed: testbed(o.Mode), Started: time.Now().UTC().Truncate(time.Second), Seed: s.Seed, Programs: []bench.Searched{}}
	for i := range programs {
		if ctx.Err() != nil {
			break
		}
		x := searching{job: &programs[i], SearchOptions: s, told: SearchProgress{Program: i}}
		found := x.search(ctx, o)
		if o.Mode == bench.ModeExact {
			found.Elapsed = 0
		}
		out.Programs = append(out.Programs, found)
		load.Settle(ctx)
		if out.Partial = ctx.Err() != nil || i+1 < len(programs); s.Save != nil {
			s.Save(out)
		}
	}
	return out, ctx.Err()
}

// searching is the search of one program.
type searching struct {
	SearchOptions
	job  *SearchJob
	told SearchProgress
	out  bench.Searched
	// as are the inputs of out as jobs.
	as []*Job
}

func (x *searching) tell() {
	if x.Progress != nil {
		x.Progress(x.told)
	}
}

func (x *searching) search(ctx context.Context, o Options) bench.Searched {
	j := x.job
	x.out = j.NothingFound()
	x.tell()
	err := inOwnNetwork(j, func() error {
		if _, err := thread.Pin(); err != nil {
			return err
		}
		target, err := search.Open(ctx, j.Job)
		if err != nil {
			return err
		}
		defer target.Close()
		found, err := x.find(ctx, target)
		if err != nil {
			return err
		}
		x.report(target, found)
		if err := x.count(ctx, target, found); err != nil {
			return err
		}
		return x.time(ctx, o)
	})
	if err != nil {
		x.out.Error, x.out.Hint, x.out.Log = load.Explained(err)
	}
	return x.out
}

func (x *searching) find(ctx context.Context, target *search.Target) (found *search.Found, err error) {
	start, err := startOf(x.job)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	defer func() { x.out.Elapsed = time.Since(began).Seconds() }()
	err = thread.WithoutSignals(func() (err error) {
		found, err = search.Search(ctx, target, search.Options{Runs: x.Runs, Time: x.Time, Seed: x.Seed, Start: start, Progress: func(p search.Progress) {
			x.told.Tried, x.told.Reached, x.told.Most = p.Runs, p.Blocks, p.Highest
			x.tell()
		}})
		return err
	})
	return found, err
}

// inOwnNetwork calls fn on a thread of its own: in a new network namespace if the job's
// programs send packets to interfaces, because a search chooses these by chance.
func inOwnNetwork(j *SearchJob, fn func() error) error {
	for _, p := range j.Spec.Programs {
		if !object.Calls(p, asm.FnCloneRedirect) {
			continue
		}
		ns, err := network.NewNetns()
		if err != nil {
			return err
		}
		defer ns.Close()
		return ns.Do(fn)
	}
	return thread.Own(fn)
}

// startOf returns the inputs that a search starts with: what the benchmark gives the
// program, and then each packet alone.
func startOf(j *SearchJob) (all []search.Input, err error) {
	given, err := progrun.ContextBytes(j.TestRun.Context)
	if err != nil {
		return nil, fmt.Errorf("context: %w", err)
	}
	all = append(all, search.Input{Packets: j.Frames, Context: given})
	if len(j.Frames) <= 1 && len(j.More) == 0 {
		return all, nil
	}
	for _, frame := range slices.Concat(j.Frames, j.More) {
		all = append(all, search.Input{Packets: [][]byte{frame}, Context: given})
	}
	return all, nil
}

// report says what a search found, except for the inputs.
func (x *searching) report(target *search.Target, found *search.Found) {
	out := &x.out
	out.Warnings = append(slices.Clone(x.job.Warnings), target.Warnings...)
	out.Tried, out.Refused, out.Unsteady = found.Runs, found.Refused, found.Unsteady
	for _, p := range target.Programs() {
		out.Blocks.All += len(p.Blocks)
	}
	if found.Alive != nil {
		n := found.Alive.Len()
		out.Blocks.Alive = &n
	}
	out.Blocks.Default, out.Blocks.Reached = found.Before.Len(), found.Reached.Len()
	out.Unreached = target.Lines(found.Unreached())
	switch {
	case found.Refused == found.Runs && found.Refused > 0:
		out.Warnings = append(out.Warnings, fmt.Sprintf("the kernel ran none of the inputs: %v", found.Refusal))
	case found.Worst == nil:
		out.Warnings = append(out.Warnings, "time or chance decides what each input executes: none of them can be shown")
	case found.Default == nil:
		out.Warnings = append(out.Warnings, "the benchmark's own packets are not run by the kernel, or time or chance decides what they execute")
	}
}

// countPatience is how long inputs are still counted after a search was interrupted.
const countPatience = 5 * time.Second

// count adds the inputs that a search found, each counted from a fresh load as those
// of a benchmark are.
func (x *searching) count(ctx context.Context, target *search.Target, found *search.Found) error {
	out := &x.out
	var interrupted time.Time
	lines := foundLines{known: map[bench.Source]bool{}}
	uncut := context.WithoutCancel(ctx) // what was found is worth the rest
	inputs := found.Inputs()
	for i, in := range inputs {
		x.told.Counted, x.told.Inputs = i, len(inputs)
		x.tell()
		if ctx.Err() != nil && interrupted.IsZero() {
			interrupted = time.Now()
		}
		if !interrupted.IsZero() && time.Since(interrupted) > countPatience {
			out.Warnings = append(out.Warnings, "the search was interrupted, and some of the inputs that it found are left out: they were not counted again")
			break
		}
		counted, as, fresh, err := countInput(uncut, x.job.Job, in)
		if err != nil {
			return fmt.Errorf("count input %s from a fresh load: %w", in.Name, err)
		}
		if counted == nil {
			out.Warnings = append(out.Warnings, fmt.Sprintf("input %s is left out: it executed %s BPF instructions a run in the search, and not from a fresh load", in.Name, unit.Mean(in.PerRun())))
			continue
		}
		if _, err := target.Run(uncut, &in.Input); err != nil {
			return fmt.Errorf("run input %s again: %w", in.Name, err)
		}
		shown := bench.FoundInput{Name: in.Name, Fresh: fresh, PerRun: in.PerRun(), Retvals: slices.Clone(target.Retvals()), Reached: in.Reached.Len(), New: in.New}
		describeInput(&shown, &in.Input)
		shown.Lines, shown.Dearest = lines.add(counted)
		out.Inputs, x.as = append(out.Inputs, shown), append(x.as, as)
		load.Settle(uncut)
	}
	return nil
}

// countInput counts an input from a fresh load, in runs like those that are measured. If these
// execute something else because of what others left, it counts runs that find maps as they
// are filled. It returns nil if neither execute what the search counted, else the job
// that does.
func countInput(ctx context.Context, j *Job, in search.Named) (e *bench.Explained, as *Job, fresh bool, err error) {
	entries := map[string][]bpfmap.Entry{}
	for _, e := range in.Entries {
		entries[e.Map] = append(entries[e.Map], e.Entry)
	}
	for _, fresh := range []bool{false, true} {
		as := j.WithInput(in.Name, in.Packets, in.Context, entries, fresh)
		e := count.Explain(ctx, PairJob{Head: as}, false)
		if e.Error != "" {
			return nil, nil, fresh, bench.WithHint(errors.New(e.Error), e.Hint)
		}
		if e.Head.PerRun == in.PerRun() && e.Head.Spread == nil {
			return &e, as, fresh, nil
		}
	}
	return nil, nil, false, nil
}

// Timing is short, because it only ranks inputs.
const (
	timingBudget = 100 * time.Millisecond
	timingLoads  = 4
)

// time times the default input and those that cost most, unless the search was interrupted.
func (x *searching) time(ctx context.Context, o Options) error {
	if x.Timed == 0 || ctx.Err() != nil {
		return nil
	}
	var timed []int
	for i := range x.out.Inputs {
		if x.out.Inputs[i].Name != bench.InputDefault {
			timed = append(timed, i)
		}
	}
	slices.SortStableFunc(timed, func(a, b int) int {
		return cmp.Compare(x.out.Inputs[b].PerRun, x.out.Inputs[a].PerRun)
	})
	timed = timed[:min(x.Timed, len(timed))]
	if len(x.out.Inputs) > 0 && x.out.Inputs[0].Name == bench.InputDefault {
		timed = append([]int{0}, timed...)
	}
	var jobs []*Job
	for _, i := range timed {
		jobs = append(jobs, x.as[i])
	}
	x.told.Timing = len(jobs)
	x.tell()
	o.Budget, o.Loads, o.Save = timingBudget, timingLoads, nil
	m := newMeasurement(fit(ctx, jobs, &o), o)
	if err := m.run(ctx); err != nil {
		return fmt.Errorf("time the inputs: %w", err)
	}
	results := m.results().Results
	for _, i := range timed {
		in := &x.out.Inputs[i]
		at := slices.IndexFunc(results, func(r bench.Result) bool { return r.Benchmark == in.Name })
		if at < 0 {
			continue
		}
		// An input that executes something else now was not timed.
		if n := results[at].Sample(bench.BPFInsns.Name); n != nil && len(n.Values) > 0 && n.Values[0] == in.PerRun {
			in.Cost = cmp.Or(results[at].Sample(bench.Latency.Name), results[at].Sample(bench.Instructions.Name))
		}
	}
	return nil
}

// describeInput writes down what an input gives the program.
func describeInput(out *bench.FoundInput, in *search.Input) {
	for _, p := range in.Packets {
		out.Packets = append(out.Packets, hex.EncodeToString(p))
	}
	out.Context = hex.EncodeToString(in.Context)
	for _, e := range in.Entries {
		out.Entries = append(out.Entries, bench.FoundEntry{Map: e.Map, Key: hex.EncodeToString(e.Key), Value: hex.EncodeToString(e.Value)})
	}
}

// foundLines are the lines that inputs reach, one after the other.
type foundLines struct {
	known map[bench.Source]bool
	first []bench.Line // of the first input
}

// add returns the lines that an input reaches and none before it did, and the one for which
// it executes most, compared with the first.
func (f *foundLines) add(e *bench.Explained) (all []bench.Source, dearest *bench.Source) {
	was := map[bench.Source]float64{}
	for _, l := range f.first {
		if s := l.Source(); s != nil {
			was[*s] += l.Head.PerRun
		}
	}
	most := 0.0
	for _, l := range e.Lines {
		s := l.Source()
		if s == nil || !l.Head.Reached() {
			continue
		}
		if !f.known[*s] {
			f.known[*s] = true
			all = append(all, *s)
		}
		if more := l.Head.PerRun - was[*s]; more > most {
			dearest, most = s, more
		}
	}
	if f.first == nil {
		f.first = e.Lines
	}
	return all, dearest
}
