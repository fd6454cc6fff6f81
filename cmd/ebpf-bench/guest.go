package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/vm"
	"github.com/org/ebpf-bench-action/runner"
)

// The files of a guest.
const (
	// jobFile holds its job.
	jobFile = "/job.json"
	// guestRoot is the folder of the suite's files, and guestBaseRoot that of the
	// base's own suite, whose files may have the names of the head's.
	guestRoot     = "/suite"
	guestBaseRoot = "/base"
)

// guestJob is what this tool does in a virtual machine: it measures a suite, or
// compares or explains two sides of it.
type guestJob struct {
	// Suite is the suite's file, empty for the bundled suite, and Only are those of
	// its benchmarks that are measured; nil is all.
	Suite string   `json:"suite,omitempty"`
	Only  []string `json:"only"`

	Rounds int           `json:"rounds,omitempty"`
	Loads  int           `json:"loads,omitempty"`
	Budget time.Duration `json:"budget,omitempty"`
	Seed   uint64        `json:"seed,omitempty"`

	// Sides are compared, or explained if Explain says how. BaseSuite is the file of
	// the base's own suite below guestBaseRoot.
	Sides     *sides.Objects     `json:"sides,omitempty"`
	Explain   *sides.ExplainPlan `json:"explain,omitempty"`
	BaseSuite string             `json:"base_suite,omitempty"`
}

// guest is a virtual machine for the job, with the files of the suite.
func (j guestJob) guest(s *suite.Suite) (fleet.Guest, error) {
	files := map[string][]byte{}
	if !s.Bundled {
		j.Suite = absolute(s.File)
		for name, data := range s.Files() {
			files[guestRoot+absolute(name)] = data
		}
	}
	if j.Sides != nil && j.Sides.Own != nil {
		packed := *j.Sides
		packed.Base, j.BaseSuite = nil, absolute(packed.Own.File)
		for name, data := range packed.Own.Files() {
			files[guestBaseRoot+absolute(name)] = data
		}
		j.Sides = &packed
	}
	text, err := json.Marshal(j)
	files[jobFile] = text
	return fleet.Guest{Files: files, Args: func(mode vm.Mode) []string { return []string{"guest", mode.String()} }}, err
}

// newGuestCommand does a job in a virtual machine. It reports to the tool outside,
// which prints and judges.
func newGuestCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "guest MODE",
		Short:  "Measure in a virtual machine, for --kernel",
		Hidden: true,
		Args:   cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			results := vm.Results()
			if results == nil {
				return exit.Usage(errors.New("this is no virtual machine: use run --kernel"))
			}
			text, err := os.ReadFile(jobFile)
			if err != nil {
				return exit.Usage(err)
			}
			var job guestJob
			if err := json.Unmarshal(text, &job); err != nil {
				return exit.Usage(err)
			}
			return exit.NoMeasure(job.do(cmd.Context(), bench.Mode(args[0]), results))
		},
	}
}

func (j *guestJob) do(ctx context.Context, mode bench.Mode, results io.Writer) error {
	s, err := j.load()
	if err != nil {
		return exit.Usage(err)
	}
	o := runner.Options{Rounds: j.Rounds, Budget: j.Budget, Seed: j.Seed, Loads: j.Loads, Tool: version(), Mode: mode}
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
			return bench.Encode(results, run)
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
		return explainEach(ctx, pairs, o, j.Explain.Code, func(e *bench.Explanation) error { return bench.EncodeExplanation(results, e) })
	}
	pairs, err := j.Sides.Plan(s)
	if err != nil {
		return exit.Usage(err)
	}
	return compareEach(ctx, pairs, o, func(c *bench.Comparison) error { return bench.EncodeComparison(results, c) })
}

// load reads the suite in the guest.
func (j *guestJob) load() (*suite.Suite, error) {
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

// measureAll interleaves the benchmarks, and reports all of them after each
// load.
func measureAll(ctx context.Context, plan *runner.Plan, o runner.Options, report func(*bench.Run) error) error {
	o.Save = report
	run, err := runner.Measure(ctx, plan, o)
	if run == nil {
		return err
	}
	return report(run)
}

// measureEach measures one benchmark after the other, which in exact mode
// comes to the same, and reports each at once: what one of them does to the
// machine must not take the others with it. The first report has all of the
// results, still empty.
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

// compareEach compares one benchmark after the other and reports each at once:
// what one does to the machine must not take the others with it.
func compareEach(ctx context.Context, pairs []runner.PairJob, o runner.Options, report func(*bench.Comparison) error) error {
	for i, p := range pairs {
		if ctx.Err() != nil {
			return nil
		}
		c, err := runner.Compare(ctx, []runner.PairJob{p}, o)
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

// explainEach explains one benchmark after the other and reports each at once: what
// one does to the machine must not take the others with it.
func explainEach(ctx context.Context, pairs []runner.PairJob, o runner.Options, code bool, report func(*bench.Explanation) error) error {
	for _, p := range pairs {
		e, err := runner.Explain(ctx, []runner.PairJob{p}, o, code)
		if err != nil {
			return err
		}
		for i := range e.Programs {
			x := &e.Programs[i]
			r := &bench.Result{Error: x.Error, Hint: x.Hint}
			explainResult(r)
			x.Hint = r.Hint
		}
		if err := report(e); err != nil {
			return err
		}
	}
	return nil
}

// explainInGuest adds to the failures of a run what they come from where the
// machine is a virtual one.
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
		r.Hint = "The virtual machine has too little memory: give it more by --vm-memory."
	case !strings.Contains(r.Error, exec.ErrNotFound.Error()) && !strings.HasSuffix(r.Error, unix.ENOENT.Error()):
	case r.Driver == bench.DriverCommand:
		r.Hint = "A virtual machine has none of this machine's programs and libraries: bring a static one by a path relative to the suite, such as ./trigger, or measure on this host by --vm off."
	default:
		r.Hint = "A virtual machine has none of this machine's programs: use load: {cpu: 1}, or measure on this host by --vm off."
	}
}

// copied are the folders of a guest that hold copies of this machine's files, where a
// path begins.
var copied = regexp.MustCompile(`(^|[^[:word:].-])(?:` + guestRoot + `|` + guestBaseRoot + `)/`)

// outside is a message of the guest with the paths that its reader knows.
func outside(text string) string { return copied.ReplaceAllString(text, "$1/") }
