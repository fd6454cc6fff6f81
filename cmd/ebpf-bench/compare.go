package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/measure"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/report/compare"
	"github.com/org/ebpf-bench-action/internal/report/measured"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/thresholds"
)

const compareExample = `  # two builds of an object: every program that both have, side by side
  sudo ebpf-bench compare old/fun.o new/fun.o

  # the same, with the benchmarks of a suite
  sudo ebpf-bench compare --suite ebpf-bench.yml old/fun.o new/fun.o

  # exact instructions instead of time, without root
  ebpf-bench compare --kernel 6.12 old/fun.o new/fun.o

  # the suite in this folder against the stored run of main
  sudo ebpf-bench compare baseline:main`

type compareFlags struct {
	selection
	outcome
	budget   time.Duration
	seed     uint64
	machines cli.MachineFlags
}

func newCompareCommand(t *ui.Terminal) *cobra.Command {
	f := compareFlags{outcome: outcome{format: "text"}}
	cmd := &cobra.Command{
		Use:     "compare [flags] BASE [HEAD]",
		Short:   "Compare two builds and fail if one got slower",
		Long:    "Compare two builds of eBPF programs. Both are loaded in the same kernel and\nmeasured in turn, in many short rounds, so whatever the machine does in the\nmeantime affects both. A benchmark that looks slower or faster is measured a\nsecond time before it is called so.\n\n" + sides.Help + "\n\nWithout HEAD, the head is the suite in this folder. Two result files, or a\nresult file and a baseline, are compared by their numbers, if they are from the\nsame testbed.\n\nThresholds with a history also judge the head by the earlier runs in the\nbaseline, from the same testbed and the base's branch.",
		Example: compareExample,
		Args:    cli.UsageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd.Flags().Changed); err != nil {
				return cli.UsageError(cmd, err)
			}
			return f.run(cmd.Context(), t, args)
		},
	}
	f.machines.Register(cmd)
	f.store.Register(cmd)
	flags := cmd.Flags()
	cli.SuiteFlag(cmd, &f.suite, "drive the programs by the workloads of this suite `file`")
	flags.StringVar(&f.filter, "filter", "", "only benchmarks whose name matches this `regexp`")
	f.shard.Register(cmd)
	cli.CompareFormats.RegisterTables(cmd, t, &f.format, "what to print on stdout: text, json, markdown, csv, or of the head alone bmf or gobench")
	flags.StringVarP(&f.out, "out", "o", "", "also write the comparison as JSON to this `file`, after each benchmark")
	flags.StringVar(&f.limits, "thresholds", "", "judge by the thresholds in this `file` (default: that which the suite names)")
	flags.DurationVar(&f.budget, "budget", 0, "measuring time of each benchmark (default: twice the suite's)")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the order of the rounds (default: random)")
	flags.BoolVar(&f.strict, "strict", false, "end with exit code 3 where the evidence is inconclusive, instead of passing")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print what did not change in full too, and the verifier's whole log when it refuses a\nprogram")
	_ = cmd.MarkFlagFilename("thresholds", "yml", "yaml")
	_ = cmd.MarkFlagFilename("out", "json")
	return cmd
}

func (f *compareFlags) check(given func(flag string) bool) error {
	switch {
	case given("budget") && f.budget <= 0 || f.budget > 24*time.Hour:
		return errors.New("--budget must be more than 0 and at most 24h")
	case given("seed") && f.seed == 0:
		return errors.New("--seed must be from 1 on")
	}
	return nil
}

func (f *compareFlags) run(ctx context.Context, t *ui.Terminal, args []string) error {
	c, err := measure.Options{
		Tool: version(), File: f.suite, Filter: f.filter, Shard: f.shard.Shard, Limits: f.limits, Budget: f.budget, Seed: f.seed,
		Store: f.store.Open(), Machines: f.machines.Machines, Watch: cli.Watch{Terminal: t},
	}.Compare(ctx, args)
	if c != nil {
		t.Tell(c.Notes...)
	}
	if err != nil {
		return exit.Usage(err)
	}
	out, err := output.New(f.out, c.Reads(f.limits, f.suite))
	if err != nil {
		return exit.Usage(err)
	}
	if c.Nothing() {
		return f.writeEmpty(t, c, out)
	}
	comparisons, err := c.Measure(ctx, func(soFar ...*bench.Comparison) {
		// The error is reported when the whole comparison is written.
		_ = out.Write(func(w io.Writer) error { return bench.EncodeComparisons(w, soFar...) })
	})
	if len(comparisons) == 0 {
		return exit.NoMeasure(err)
	}
	t.Tell(c.Elsewhere(comparisons)...)
	return errors.Join(f.comparisons(ctx, t, out, c.Policy, c.Kernels, comparisons, err), exit.NoMeasure(c.NotCompared(comparisons)))
}

// writeEmpty writes the comparison of a shard without benchmarks.
func (f *compareFlags) writeEmpty(t *ui.Terminal, c *measure.Comparing, out output.File) error {
	empty, note := c.Empty()
	t.Tell(note)
	judged := compare.New(compare.Table{Comparison: empty, Verdicts: &thresholds.Verdicts{Empty: true}})
	write := func(w io.Writer) error { return compare.JSON(w, judged) }
	if err := out.Write(write); err != nil {
		return exit.NoMeasure(err)
	}
	switch f.format {
	case "json":
		return exit.NoMeasure(write(t.Stdout))
	case "bmf":
		return exit.NoMeasure(measured.BMF(t.Stdout, measured.New()))
	}
	return nil
}
