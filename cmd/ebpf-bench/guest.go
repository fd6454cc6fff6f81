package main

import (
	"context"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/vm"
	"github.com/org/ebpf-bench-action/runner"
)

// guestFlags are what run hands on to this tool in a virtual machine.
type guestFlags struct {
	selection
	mode   string
	rounds int
	loads  int
	budget time.Duration
	seed   uint64
}

// newGuestCommand measures a suite in a virtual machine. It reports to the
// tool outside, which prints and judges.
func newGuestCommand(t *ui.Terminal) *cobra.Command {
	var f guestFlags
	cmd := &cobra.Command{
		Use:    "guest [flags] [suite.yml]",
		Short:  "Measure in a virtual machine, for run --kernel",
		Hidden: true,
		Args:   usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			results := vm.Results()
			if results == nil {
				return exit.Usage(errors.New("this is no virtual machine: use run --kernel"))
			}
			s, err := f.load(t, args)
			if err != nil {
				return exit.Usage(err)
			}
			plan, err := runner.NewPlan(s)
			if err != nil {
				return exit.Usage(err)
			}
			measure := measureAll
			if f.mode == vm.Exact.String() {
				measure = measureEach
			}
			return exit.NoMeasure(measure(cmd.Context(), plan, runner.Options{
				Rounds: f.rounds, Budget: f.budget, Seed: f.seed, Loads: f.loads,
				Tool: version(), Mode: bench.Mode(f.mode),
			}, func(run *bench.Run) error {
				explainInGuest(run)
				return bench.Encode(results, run)
			}))
		},
	}
	f.registerGuest(cmd)
	return cmd
}

func (f *guestFlags) registerGuest(cmd *cobra.Command) {
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.root, "root", "", "folder of the suite's file system")
	flags.StringVar(&f.mode, "mode", "", "exact or kvm")
	flags.IntVar(&f.rounds, "rounds", 0, "")
	flags.IntVar(&f.loads, "loads", 0, "")
	flags.DurationVar(&f.budget, "budget", 0, "")
	flags.Uint64Var(&f.seed, "seed", 0, "")
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

// args are the flags as the command line of a hidden command.
func (f *guestFlags) args(command string, mode vm.Mode) []string {
	args := []string{command, "--mode", mode.String()}
	add := func(name, value, zero string) {
		if value != zero {
			args = append(args, name, value)
		}
	}
	add("--filter", f.filter, "")
	add("--shard", f.shard.String(), "")
	add("--root", f.root, "")
	add("--rounds", itoa(f.rounds), "0")
	add("--loads", itoa(f.loads), "0")
	add("--budget", f.budget.String(), "0s")
	add("--seed", itoa(f.seed), "0")
	return args
}
