package job

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/vm/guest"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Serve does, in a virtual machine, the job that it was given. It reports to the tool
// outside, which prints and judges.
func Serve(ctx context.Context, mode bench.Mode, tool string) error {
	results := guest.Results()
	if results == nil {
		return exit.Usage(errors.New("this is not a virtual machine: use run --kernel"))
	}
	text, err := os.ReadFile(jobFile)
	if err != nil {
		return exit.Usage(err)
	}
	var j job
	if err := json.Unmarshal(text, &j); err != nil {
		return exit.Usage(err)
	}
	return exit.NoMeasure(j.do(ctx, mode, tool, results))
}

func (j *job) do(ctx context.Context, mode bench.Mode, tool string, results io.Writer) error {
	s, err := j.load()
	if err != nil {
		return exit.Usage(err)
	}
	o := runner.Options{Rounds: j.Rounds, Budget: j.Budget, Seed: j.Seed, Loads: j.Loads, Tool: tool, Mode: mode}
	if j.Sides == nil {
		plan, err := runner.NewPlan(s)
		if err != nil {
			return exit.Usage(err)
		}
		measure := measureAll
		if mode == bench.ModeExact {
			measure = measureEach
		}
		return measure(ctx, plan, o, func(run *bench.Run) error {
			explainInGuest(run)
			return bench.EncodeRuns(results, run)
		})
	}
	if j.BaseSuite != "" {
		if j.Sides.Own, err = suite.Load(suite.Root(guestBaseRoot), j.BaseSuite); err != nil {
			return exit.Usage(err)
		}
	}
	if j.Explain != nil {
		pairs, err := j.Explain.Plan(j.Sides, s)
		if err != nil {
			return exit.Usage(err)
		}
		return explainEach(ctx, pairs, o, j.Explain.Code, func(e *bench.Explanation) error { return bench.EncodeExplanations(results, e) })
	}
	if j.Search != nil {
		head, err := j.Sides.HeadSuite(s)
		if err != nil {
			return exit.Usage(err)
		}
		programs, err := runner.PlanSearches(head)
		if err != nil {
			return exit.Usage(err)
		}
		return searchEach(ctx, programs.Jobs, o, *j.Search, func(found *bench.Search) error { return bench.EncodeSearches(results, found) })
	}
	pairs, err := j.Sides.Plan(s)
	if err != nil {
		return exit.Usage(err)
	}
	return compareEach(ctx, pairs, o, func(c *bench.Comparison) error { return bench.EncodeComparisons(results, c) })
}

// load reads the suite in the guest.
func (j *job) load() (*suite.Suite, error) {
	if j.Suite == "" {
		s, err := suite.Bundled()
		if err != nil {
			return nil, err
		}
		return s.Only(j.Only), nil
	}
	s, err := suite.Load(suite.Root(guestRoot), j.Suite)
	if err != nil {
		return nil, err
	}
	return s.Only(j.Only), nil
}

// measureAll interleaves the benchmarks, and reports all of them after each load.
func measureAll(ctx context.Context, plan *runner.Plan, o runner.Options, report func(*bench.Run) error) error {
	o.Save = report
	run, err := runner.Measure(ctx, plan, o)
	if run == nil {
		return err
	}
	return report(run)
}

// measureEach measures one benchmark after the other, which is equivalent in exact mode,
// and reports each at once: if one of them breaks the machine, the results of the others
// must not be lost. The first report has all of the results, still empty.
func measureEach(ctx context.Context, plan *runner.Plan, o runner.Options, report func(*bench.Run) error) error {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	run, err := runner.Measure(cancelled, plan, o)
	if err != nil {
		return err
	}
	if err := report(run); err != nil {
		return err
	}
	for _, job := range plan.Jobs {
		if ctx.Err() != nil {
			return nil
		}
		one, err := runner.Measure(ctx, &runner.Plan{Jobs: []*runner.Job{job}}, o)
		if err != nil {
			return err
		}
		run.Results = one.Results
		if err := report(run); err != nil {
			return err
		}
	}
	run.Results, run.Partial = nil, false
	return report(run)
}

// compareEach compares one benchmark after the other and reports each at once: if one
// breaks the machine, the others must not be lost.
func compareEach(ctx context.Context, pairs []runner.PairJob, o runner.Options, report func(*bench.Comparison) error) error {
	for i, p := range pairs {
		if ctx.Err() != nil {
			return nil
		}
		c, err := compareOne(ctx, p, o)
		if err != nil {
			return err
		}
		c.Partial = c.Partial || i+1 < len(pairs)
		for i := range c.Pairs {
			for _, r := range []*bench.Result{c.Pairs[i].Base, c.Pairs[i].Head, c.Pairs[i].Again} {
				if r != nil {
					explainResult(r)
				}
			}
		}
		if err := report(c); err != nil {
			return err
		}
	}
	return nil
}

// compareOne compares a benchmark, and does so twice if it looks changed and a clock
// measures it: a policy needs a second measurement. The policy is not known here, so any
// change that the statistics can tell from noise counts.
func compareOne(ctx context.Context, p runner.PairJob, o runner.Options) (*bench.Comparison, error) {
	if o.Mode == bench.ModeExact {
		return runner.Compare(ctx, []runner.PairJob{p}, o)
	}
	return runner.CompareTwice(ctx, []runner.PairJob{p}, o, thresholds.Statistics().Flagged)
}

// explainEach explains one benchmark after the other and reports each at once: if one
// breaks the machine, the others must not be lost.
func explainEach(ctx context.Context, pairs []runner.PairJob, o runner.Options, code bool, report func(*bench.Explanation) error) error {
	for _, p := range pairs {
		e, err := runner.Explain(ctx, []runner.PairJob{p}, o, code)
		if err != nil {
			return err
		}
		for i := range e.Programs {
			explainError(&e.Programs[i].Error, &e.Programs[i].Hint)
		}
		if err := report(e); err != nil {
			return err
		}
	}
	return nil
}

// searchEach searches one program after the other and reports each at once: if one breaks
// the machine, the others must not be lost.
func searchEach(ctx context.Context, programs []runner.SearchJob, o runner.Options, how runner.SearchOptions, report func(*bench.Search) error) error {
	for _, p := range programs {
		found, err := runner.Search(ctx, []runner.SearchJob{p}, o, how)
		if found == nil {
			return err
		}
		for i := range found.Programs {
			explainError(&found.Programs[i].Error, &found.Programs[i].Hint)
		}
		if err := errors.Join(report(found), err); err != nil {
			return err
		}
	}
	return nil
}

// explainError is explainResult for the error and the hint of something else.
func explainError(text, hint *string) {
	r := &bench.Result{Error: *text, Hint: *hint}
	explainResult(r)
	*text, *hint = r.Error, r.Hint
}

// explainInGuest adds to the failures of a run the causes that are specific to a virtual
// machine.
func explainInGuest(run *bench.Run) {
	for i := range run.Results {
		explainResult(&run.Results[i])
	}
}

func explainResult(r *bench.Result) {
	r.Error, r.Hint = outside(r.Error), outside(r.Hint)
	switch {
	case r.Hint != "":
	case strings.HasSuffix(r.Error, unix.ENOMEM.Error()):
		r.Hint = "the virtual machine has too little memory: give it more by --vm-memory"
	case !strings.Contains(r.Error, exec.ErrNotFound.Error()) && !strings.HasSuffix(r.Error, unix.ENOENT.Error()):
	case r.Driver == bench.DriverCommand:
		r.Hint = "a virtual machine has none of this machine's programs and libraries: bring a static one by a path relative to the suite, such as ./trigger, or measure on this host by --vm off"
	default:
		r.Hint = "a virtual machine has none of this machine's programs: use load: {cpu: 1}, or measure on this host by --vm off"
	}
}

// copied matches the folders of a guest that hold copies of this machine's files, where a
// path begins.
var copied = regexp.MustCompile(`(^|[^[:word:].-])(?:` + guestRoot + `|` + guestBaseRoot + `)/`)

// outside returns a message from the guest with the paths that its reader knows.
func outside(text string) string { return copied.ReplaceAllString(text, "$1/") }
