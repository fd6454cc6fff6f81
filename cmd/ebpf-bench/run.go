package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

const runExample = `  # measure the programs that ebpf-bench brings
  sudo ebpf-bench run

  # measure your own, and keep every raw value
  sudo ebpf-bench run --out result.json ebpf-bench.yml

  # only some benchmarks, for five seconds each
  sudo ebpf-bench run --filter '^xdp/' --budget 5s

  # fail when a program is over its budget
  sudo ebpf-bench run --thresholds thresholds.yml

  # as a source for Bencher
  bencher run --adapter json "ebpf-bench run --format bmf"`

type runFlags struct {
	selection
	format  formatFlag
	out     string
	limits  string
	rounds  int
	loads   int
	budget  time.Duration
	seed    uint64
	verbose bool
}

func newRunCommand(t *terminal) *cobra.Command {
	f := runFlags{format: "text"}
	cmd := &cobra.Command{
		Use:     "run [flags] [suite.yml]",
		Short:   "Measure the benchmarks of a suite",
		Long:    "Measure the benchmarks of a suite: the file given, else ./ebpf-bench.yml, else the\nprograms that ebpf-bench brings.",
		Example: runExample,
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return usageError(cmd, err)
			}
			return f.run(cmd.Context(), t, args)
		},
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.Var(&f.format, "format", "what to print on stdout: text, json or bmf")
	flags.StringVarP(&f.out, "out", "o", "", "also write the whole run as JSON to this `file`, anew after each load")
	flags.StringVar(&f.limits, "thresholds", "", "fail when the results cross the thresholds in this `file`")
	flags.IntVar(&f.rounds, "rounds", 0, "rounds of each benchmark (default: what its budget allows)")
	flags.IntVar(&f.loads, "loads", runner.DefaultLoads, "how often to load the objects afresh")
	flags.DurationVar(&f.budget, "budget", 0, "measuring time of each benchmark, instead of the suite's")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the order of the rounds (default: random)")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print the verifier's whole log when it refuses a program")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json", "bmf"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.MarkFlagFilename("out", "json")
	_ = cmd.MarkFlagFilename("thresholds", "yml", "yaml")
	return cmd
}

func (f *runFlags) check() error {
	switch {
	case f.rounds < 0 || f.rounds > 1_000_000:
		return errors.New("--rounds must be from 1 to 1000000")
	case f.loads < 1 || f.loads > 1000:
		return errors.New("--loads must be from 1 to 1000")
	case f.budget < 0:
		return errors.New("--budget must be more than 0")
	}
	return nil
}

func (f *runFlags) run(ctx context.Context, t *terminal, args []string) error {
	s, err := f.load(t, args)
	if err != nil {
		return usage(err)
	}
	plan, err := runner.NewPlan(s)
	if err != nil {
		return usage(err)
	}
	policy, err := f.policy()
	if err != nil {
		return usage(err)
	}
	save, err := f.saver()
	if err != nil {
		return usage(err)
	}
	run, err := runner.Measure(ctx, plan, runner.Options{
		Rounds: f.rounds, Budget: f.budget, Seed: f.seed, Loads: f.loads,
		Tool:     version(),
		Progress: newProgress(t, plan),
		Save:     save,
	})
	if err != nil {
		return noMeasure(err)
	}
	return errors.Join(f.print(t, run), failures(run, f.verbose), f.judge(policy, run))
}

func (f *runFlags) policy() (*thresholds.Policy, error) {
	if f.limits == "" {
		return thresholds.Default(), nil
	}
	return thresholds.Load(suite.OS, filepath.ToSlash(f.limits))
}

// judge turns crossed thresholds into errors. Whoever reads Bencher Metric
// Format judges by its own thresholds, and takes a failing command for one
// that could not measure.
func (f *runFlags) judge(policy *thresholds.Policy, run *bench.Run) error {
	if f.format == "bmf" {
		return nil
	}
	var errs []error
	for _, a := range policy.Judge(run) {
		errs = append(errs, fmt.Errorf("%s: %s is %s, over the maximum of %s", a.Benchmark, a.Measure.Name,
			unit.Format(a.Value, a.Measure.Unit), unit.Format(a.Max, a.Measure.Unit)))
	}
	if len(errs) == 0 {
		return nil
	}
	return &exitError{exitRegression, errors.Join(errs...)}
}

// saver writes the results so far to the file of --out. It is tried before
// anything is measured, so that a wrong path costs no time.
func (f *runFlags) saver() (func(*bench.Run) error, error) {
	if f.out == "" {
		return nil, nil
	}
	if info, err := os.Stat(f.out); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("--out: %s is no regular file", f.out)
	}
	probe, err := renameio.NewPendingFile(f.out)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	if err := probe.Cleanup(); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return func(run *bench.Run) error { return writeRun(f.out, run) }, nil
}

// writeRun replaces the file as a whole: a crash leaves the previous one.
func writeRun(name string, run *bench.Run) error {
	file, err := renameio.NewPendingFile(name, renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("save results: %w", err)
	}
	defer file.Cleanup() //nolint:errcheck // a temporary file at worst
	if err := bench.Encode(file, run); err != nil {
		return fmt.Errorf("save results: %w", err)
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("save results: %w", err)
	}
	return nil
}

func (f *runFlags) print(t *terminal, run *bench.Run) error {
	m := report.NewModel(run)
	m.Color = t.colored(t.stdout)
	if err := f.format.render()(t.stdout, m); err != nil {
		return noMeasure(fmt.Errorf("write results: %w", err))
	}
	return nil
}

// failures says what could not be measured, one error a benchmark.
func failures(run *bench.Run, verbose bool) error {
	var errs []error
	for i := range run.Results {
		r := &run.Results[i]
		if r.Error == "" {
			continue
		}
		err := fmt.Errorf("%s: %s", r.Benchmark, r.Error)
		if r.Log != "" {
			err = &detailed{err, logLines(r.Log, verbose)}
		}
		errs = append(errs, bench.WithHint(err, r.Hint))
	}
	if run.Partial {
		errs = append(errs, errors.New("interrupted: the results are partial"))
	}
	return noMeasure(errors.Join(errs...))
}

// formatFlag is the value of --format.
type formatFlag string

var renderers = map[formatFlag]func(io.Writer, *report.Model) error{
	"text": report.Text,
	"json": report.JSON,
	"bmf":  report.BMF,
}

func (f formatFlag) render() func(io.Writer, *report.Model) error { return renderers[f] }

func (f *formatFlag) String() string { return string(*f) }
func (f *formatFlag) Type() string   { return "format" }

func (f *formatFlag) Set(s string) error {
	if renderers[formatFlag(s)] == nil {
		return errors.New("it is text, json or bmf")
	}
	*f = formatFlag(s)
	return nil
}
