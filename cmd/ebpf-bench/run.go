package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/measure"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/runner"
)

const runExample = `  # measure the bundled programs
  sudo ebpf-bench run

  # measure your own, and keep every raw value
  sudo ebpf-bench run --out result.json ebpf-bench.yml

  # only some benchmarks, for five seconds each
  sudo ebpf-bench run --filter '^xdp/' --budget 5s

  # count instructions on other kernels, without root
  ebpf-bench run --kernel 5.10,6.12

  # fail when a program is over its budget
  sudo ebpf-bench run --thresholds thresholds.yml

  # keep the run and its objects for later comparisons
  sudo ebpf-bench run --save

  # as input for benchstat
  sudo ebpf-bench run --format gobench > new.txt
  benchstat old.txt new.txt

  # as a source for Bencher
  sudo bencher run --adapter json "ebpf-bench run --format bmf"`

const runLong = `Measure the benchmarks of a suite: the given file, or ./ebpf-bench.yml, or the
bundled programs.

With --save the run is kept in the baseline with the objects that it measured,
like ebpf-bench baseline save does. A run that failed, even in part, is not
saved. A run that crosses a threshold is saved.`

type runFlags struct {
	selection
	outcome
	rounds int
	loads  int
	budget time.Duration
	seed   uint64

	keep     bool
	from     cli.Origin
	machines cli.MachineFlags
}

func newRunCommand(t *ui.Terminal) *cobra.Command {
	f := runFlags{outcome: outcome{format: "text"}}
	cmd := &cobra.Command{
		Use:     "run [flags] [suite.yml]",
		Short:   "Measure the benchmarks of a suite",
		Long:    runLong,
		Example: runExample,
		Args:    cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd.Flags().Changed); err != nil {
				return cli.UsageError(cmd, err)
			}
			return f.run(cmd.Context(), t, args)
		},
	}
	f.selection.register(cmd)
	f.machines.Register(cmd)
	f.store.Register(cmd)
	f.from.Register(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.keep, "save", false, "keep the run with its objects in the baseline")
	cli.RunFormats.RegisterTables(cmd, t, &f.format, "what to print on stdout: text, json, bmf (for Bencher), gobench (for benchstat) or csv")
	flags.StringVarP(&f.out, "out", "o", "", "also write the whole run as JSON to this `file`, after each load")
	flags.StringVar(&f.limits, "thresholds", "", "fail when the results cross the thresholds in this `file` (default: that which the suite names)")
	flags.BoolVar(&f.strict, "strict", false, "end with exit code 3 where a history is inconclusive, instead of passing")
	flags.IntVar(&f.rounds, "rounds", 0, "rounds of each benchmark (default: what its budget allows)")
	flags.IntVar(&f.loads, "loads", runner.DefaultLoads, "how often to load the objects afresh")
	flags.DurationVar(&f.budget, "budget", 0, "measuring time of each benchmark, instead of the suite's")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the order of the rounds (default: random)")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print the verifier's whole log when it refuses a program")
	_ = cmd.MarkFlagFilename("out", "json")
	_ = cmd.MarkFlagFilename("thresholds", "yml", "yaml")
	return cmd
}

// check refuses wrong flags. given reports whether a flag was given.
func (f *runFlags) check(given func(flag string) bool) error {
	switch {
	case given("rounds") && f.rounds < 1 || f.rounds > 1_000_000:
		return errors.New("--rounds must be from 1 to 1000000")
	case f.loads < 1 || f.loads > 1000:
		return errors.New("--loads must be from 1 to 1000")
	case given("budget") && f.budget <= 0 || f.budget > 24*time.Hour:
		return errors.New("--budget must be more than 0 and at most 24h")
	case given("seed") && f.seed == 0:
		return errors.New("--seed must be from 1 on")
	case !f.keep && (given("branch") || given("commit") || given("tag")):
		return errors.New("--branch, --commit and --tag require --save")
	case f.keep && f.shard.Shard != nil:
		return errors.New("--save keeps a whole run, and --shard measures a part of one: join the parts by ebpf-bench merge, and keep them by ebpf-bench baseline save")
	}
	return nil
}

func (f *runFlags) run(ctx context.Context, t *ui.Terminal, args []string) error {
	file, err := f.file(args)
	if err != nil {
		return exit.Usage(err)
	}
	r, err := measure.Options{
		Tool: version(), File: file, Filter: f.filter, Shard: f.shard.Shard, Limits: f.limits,
		Rounds: f.rounds, Loads: f.loads, Budget: f.budget, Seed: f.seed, Machines: f.machines.Machines, Watch: cli.Watch{Terminal: t},
	}.Run()
	if r != nil {
		t.Tell(r.Notes()...)
	}
	if err != nil {
		return exit.Usage(err)
	}
	write, err := f.writer(r)
	if err != nil {
		return exit.Usage(err)
	}
	if err := f.prepareSave(ctx, t); err != nil {
		return exit.Usage(err)
	}
	if len(r.Plan.Jobs) == 0 {
		return f.writeEmpty(t, r, write)
	}
	runs, err := r.Measure(ctx, write)
	if len(runs) == 0 {
		return exit.NoMeasure(err)
	}
	f.branch = f.from.Branch
	return errors.Join(f.runs(ctx, t, write, r.Policy, r.Judged.Kernels, runs, err), f.save(ctx, t, r.Suite, runs))
}
