package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner"
)

const explainLong = `Say which lines of source the BPF instructions are of that a run executes: counted
exactly, in the running kernel, by a copy of each program that counts its own
blocks. Nothing is timed.

With one argument, or with none for all benchmarks of the suite, it says what each
line executes. With BASE and HEAD it says what changed: lines are matched by their
function and content, so what was inserted above a line does not matter.

PROGRAM, and both BASE and HEAD, are a benchmark of the suite by its name or the end
of it, or a program of the suite; of two the head's workload drives both. Or else
they are builds, and what there is of the name in this folder comes first:

` + sides + `

Builds without a suite get a workload by the types of their programs.

The formats: text, json and markdown; html is one page that needs nothing else; lcov
is a tracefile for genhtml and editors, in which a line is executed as often as the
most executed one of its instructions; pprof is a profile for go tool pprof, of two
sides their difference. Of two sides lcov has the head.`

const explainExample = `  # the dearest lines of a program that ebpf-bench brings
  sudo ebpf-bench explain fibonacci_slow

  # what a fix changed, line by line, with the bytecode
  sudo ebpf-bench explain --asm fibonacci_slow fibonacci

  # two builds, driven by the workloads of a suite
  sudo ebpf-bench explain --config ebpf-bench.yml old/fun.o new/fun.o

  # on another kernel, without root
  ebpf-bench explain --kernel 6.12 fibonacci_slow

  # a page to share, and coverage for an editor
  sudo ebpf-bench explain --out explain.html
  sudo ebpf-bench explain --out lcov.info`

type explainFlags struct {
	config   string
	format   explainFormat
	out      string
	asm      bool
	sort     explainSort
	all      bool
	verbose  bool
	store    storeFlag
	machines machineFlags
}

func newExplainCommand(t *terminal) *cobra.Command {
	f := explainFlags{sort: "hot"}
	cmd := &cobra.Command{
		Use:               "explain [flags] [PROGRAM | BASE HEAD]",
		Short:             "Say which lines of source cost how much",
		Long:              explainLong,
		Example:           explainExample,
		Args:              usageArgs(cobra.MaximumNArgs(2)),
		ValidArgsFunction: f.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(t); err != nil {
				return usageError(cmd, err)
			}
			return f.run(cmd.Context(), t, args)
		},
	}
	f.machines.register(cmd)
	f.store.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "the suite `file` (default: ./ebpf-bench.yml, else the bundled one)")
	flags.Var(&f.format, "format", "what to print: "+explainFormats+"\n(default: text, or what --out ends in)")
	flags.StringVarP(&f.out, "out", "o", "", "write to this `file` instead of stdout")
	flags.BoolVar(&f.asm, "asm", false, "list the instructions of each line too")
	flags.Var(&f.sort, "sort", "list the dearest lines first (hot), or all in the order of their file (file)")
	flags.BoolVar(&f.all, "all", false, "list also the lines that do not matter")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print the verifier's whole log when it refuses a program")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(strings.Split(explainFormats, ", "), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions([]string{"hot", "file"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.MarkFlagFilename("config", "yml", "yaml")
	return cmd
}

// check refuses what no default stands for, and finds the format.
func (f *explainFlags) check(t *terminal) error {
	if f.format == "" {
		f.format = formatOf(f.out)
	}
	if f.format == "pprof" && f.out == "" && isTerminal(t.stdout) {
		return errors.New("--format pprof is no text: add --out profile.pb.gz")
	}
	return nil
}

func (f *explainFlags) run(ctx context.Context, t *terminal, args []string) error {
	s, err := f.open(ctx, t, args)
	if err != nil {
		return usage(err)
	}
	out, err := newOutFile(f.out, s.reads(f.config))
	if err != nil {
		return usage(err)
	}
	all, err := f.explain(ctx, t, s)
	if len(all) == 0 {
		return noMeasure(err)
	}
	return errors.Join(noMeasure(f.print(t, out, s, all)), noMeasure(err), f.failures(all, err))
}

// explain counts on this host, or on each of the kernels that the flags or the
// suite name.
func (f *explainFlags) explain(ctx context.Context, t *terminal, s *explainSides) ([]*bench.Explanation, error) {
	if kernels := f.machines.choose(s.suite.Kernels); len(kernels) > 0 {
		return f.onKernels(ctx, t, s, kernels)
	}
	e, err := runner.Explain(ctx, s.pairs, runner.Options{Tool: version()}, f.code())
	if e == nil {
		return nil, interrupted(ctx, err)
	}
	s.name(e)
	return []*bench.Explanation{e}, interrupted(ctx, err)
}

// onKernels counts on each kernel, as many at a time as there are CPUs.
func (f *explainFlags) onKernels(ctx context.Context, t *terminal, s *explainSides, kernels []string) ([]*bench.Explanation, error) {
	vms, err := f.machines.open(t, kernels)
	if err != nil {
		return nil, err
	}
	return onEach(kernels, func(_ int, name string) (*bench.Explanation, error) {
		began := time.Now()
		e, err := f.onKernel(ctx, vms, s, name)
		if err == nil {
			t.say("", "counted on Linux %s in %.1f s", e.Testbed.Kernel, time.Since(began).Seconds())
		}
		return e, err
	})
}

// code tells whether the instructions of lines are needed: a line's own count does
// not tell how often it is executed.
func (f *explainFlags) code() bool { return f.asm || f.format == "lcov" || f.format == "pprof" }

// failures says what could not be counted, one error a benchmark, but for what
// errors have told already.
func (f *explainFlags) failures(all []*bench.Explanation, told error) error {
	var failed failureList
	for _, e := range all {
		for i := range e.Programs {
			p := &e.Programs[i]
			failed.add(&bench.Result{Benchmark: p.Benchmark, Error: p.Error, Hint: p.Hint, Log: p.Log}, "", e.Testbed.Kernel)
		}
	}
	return noMeasure(errors.Join(failed.besides(told).errors(len(all) > 1, f.verbose)...))
}

// complete completes the names of benchmarks and programs, and else files.
func (f *explainFlags) complete(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	s, err := (&selection{}).open(newTerminal(io.Discard, io.Discard), f.suiteArgs())
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, b := range s.Benchmarks {
		for _, name := range []string{b.Name, b.Program} {
			if strings.HasPrefix(name, prefix) {
				names = appendNew(names, name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

func (f *explainFlags) suiteArgs() []string {
	if f.config == "" {
		return nil
	}
	return []string{f.config}
}
