package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/job"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/measure"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/report/explain"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
)

const explainLong = `Show which source lines the BPF instructions of a run belong to. They are
counted exactly, in the running kernel, by a copy of each program that counts
its own blocks. Nothing is timed.

With one argument, or with none for all benchmarks of the suite, it shows what
each line executes. With BASE and HEAD it shows what changed. Lines are matched
by function and content, so lines inserted above do not matter.

PROGRAM, BASE and HEAD are each the name of a benchmark, or the end of one, or a
program of the suite; the workload of the head drives both sides. Or they are
builds, and a file of that name in this folder comes first:

` + sides.Help + `

Builds without a suite get a workload by program type.

A program whose runs can differ, because it has maps, reads the clock or draws
random numbers, is run up to 256 times with each input, and ~ marks a figure
that differs. A line counts as reached if one of its stores, calls or jumps was
executed; the compiler moves other instructions in front of a branch.

The formats: text, json and markdown; html is one page that needs nothing else, with
the source around the lines where it is in this folder, or beside the objects or the
suite; lcov is a tracefile for genhtml and editors, in which a line is executed as
often as it was reached in all counted runs; pprof is a profile for go tool pprof, of
two sides their difference. pprof adds up all benchmarks: -tagfocus=benchmark=NAME
shows one of them, -tags lists them. Of two sides lcov has the head.`

const explainExample = `  # the most expensive lines of a bundled program
  sudo ebpf-bench explain fibonacci_slow

  # what a fix changed, line by line, with the bytecode
  sudo ebpf-bench explain --asm fibonacci_slow fibonacci

  # two builds, with the benchmarks of a suite
  sudo ebpf-bench explain --suite ebpf-bench.yml old/fun.o new/fun.o

  # on another kernel, without root
  ebpf-bench explain --kernel 6.12 fibonacci_slow

  # a page to share, and coverage for an editor
  sudo ebpf-bench explain --out explain.html
  sudo ebpf-bench explain --out lcov.info`

type explainFlags struct {
	suite    string
	format   string
	out      string
	asm      bool
	sort     string
	all      bool
	verbose  bool
	store    cli.Store
	machines cli.MachineFlags
}

func newExplainCommand(t *ui.Terminal) *cobra.Command {
	f := explainFlags{sort: "hot"}
	cmd := &cobra.Command{
		Use:               "explain [flags] [PROGRAM | BASE HEAD]",
		Short:             "Show which source lines cost how much",
		Long:              explainLong,
		Example:           explainExample,
		Args:              cli.UsageArgs(cobra.MaximumNArgs(2)),
		ValidArgsFunction: f.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(t); err != nil {
				return cli.UsageError(cmd, err)
			}
			return f.run(cmd.Context(), t, args)
		},
	}
	f.machines.Register(cmd)
	f.store.Register(cmd)
	flags := cmd.Flags()
	cli.SuiteFlag(cmd, &f.suite, "the suite `file` (default: ./ebpf-bench.yml, else the bundled one)")
	explainFormats.Register(cmd, &f.format, "what to print: text, json, markdown, html, lcov, pprof\n(default: text, or what --out ends in)")
	flags.StringVarP(&f.out, "out", "o", "", "write to this `file` instead of stdout")
	flags.BoolVar(&f.asm, "asm", false, "list the instructions of each line too")
	cli.OneOf(cmd, flags, &f.sort, "sort", "order", []string{"hot", "file"}, "list the most expensive lines first (hot), or all in the order of their file (file)")
	flags.BoolVar(&f.all, "all", false, "list also the lines that do not matter")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print the verifier's whole log when it refuses a program")
	return cmd
}

// check refuses wrong flags, and determines the format.
func (f *explainFlags) check(t *ui.Terminal) error {
	if explain.IsSource(f.out) {
		return fmt.Errorf("--out %s: that is a file of source, as explain reports on: name one that ends in %s", f.out, strings.Join(knownEnds(), ", "))
	}
	if f.format == "" {
		if f.format = formatOf(f.out); f.format == "" {
			return fmt.Errorf("--out %s: no format ends so: there are %s; or name one by --format", f.out, strings.Join(knownEnds(), ", "))
		}
	}
	if f.format == "pprof" && f.out == "" && ui.IsTerminal(t.Stdout) {
		return errors.New("--format pprof is binary: add --out profile.pb.gz")
	}
	return nil
}

func (f *explainFlags) run(ctx context.Context, t *ui.Terminal, args []string) error {
	s, err := sides.Options{Command: "explain", Suite: f.suite, Filter: regexp.MustCompile(""), Store: f.store.Open(), Near: func(head *sides.Side) func(baseline.Meta) bool {
		return measure.Nearest(head, f.suite, &f.machines.Machines)
	}}.Explain(ctx, args)
	if err != nil {
		return exit.Usage(err)
	}
	t.Tell(measure.Matched(s.Matchup)...)
	out, err := output.New(f.out, s.Reads(f.suite))
	if err != nil {
		return exit.Usage(err)
	}
	all, err := f.explain(ctx, t, s)
	if len(all) == 0 {
		return exit.NoMeasure(err)
	}
	return errors.Join(exit.NoMeasure(f.print(t, out, s, all)), exit.NoMeasure(err), judge.Unexplained(all, f.verbose, err))
}

// explain counts on this host, or on each of the kernels that the flags or the suite name.
func (f *explainFlags) explain(ctx context.Context, t *ui.Terminal, s *sides.Explained) ([]*bench.Explanation, error) {
	if kernels := f.machines.Choose(s.Suite.Kernels); len(kernels) > 0 {
		return f.onKernels(ctx, t, s, kernels)
	}
	e, err := runner.Explain(ctx, s.Pairs, runner.Options{Tool: version()}, f.code())
	if e == nil {
		return nil, fleet.Interrupted(ctx, err)
	}
	s.Name(e)
	return []*bench.Explanation{e}, fleet.Interrupted(ctx, err)
}

// onKernels counts on each kernel.
func (f *explainFlags) onKernels(ctx context.Context, t *ui.Terminal, s *sides.Explained, kernels []string) ([]*bench.Explanation, error) {
	on, err := f.machines.Open(cli.Watch{Terminal: t}, kernels)
	if err != nil {
		return nil, err
	}
	return job.Options{ByDefault: f.machines.ByDefault(s.Suite.Kernels), Done: func(release string, took time.Duration) {
		t.Say("counted on Linux %s in %.1f s", release, took.Seconds())
	}}.Explanations(ctx, on, kernels, s, f.code())
}

// code reports whether the instructions of lines are needed: a line's own count does not
// show how often it is executed.
func (f *explainFlags) code() bool { return f.asm || f.format == "lcov" || f.format == "pprof" }

// complete completes the names of benchmarks and programs, and else files.
func (f *explainFlags) complete(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeNames(f.suite, prefix)
}

// completeNames completes the names of benchmarks and programs of a suite, and else files.
func completeNames(file, prefix string) ([]string, cobra.ShellCompDirective) {
	s, err := suite.Open(file)
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, b := range s.Benchmarks {
		for _, name := range []string{b.Name, b.Program} {
			if strings.HasPrefix(name, prefix) {
				names = unit.AppendNew(names, name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}
