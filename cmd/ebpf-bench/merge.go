package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/bench/merge"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/input"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

const mergeLong = `Join the results of shards, or of several kernels, into what one run or one
comparison would have written, and judge that. The correction for many tests
applies to the whole suite, so the verdicts of merge are the ones that count.

A FILE is what run or compare wrote with --out (or --format json) and --shard.
All must come from the same version of ebpf-bench, the same two sides, and on
each kernel the same testbed; timed results also from the same kind of machine.
No benchmark may occur twice on a kernel, but if the jobs of a GitHub workflow
ran again, their last attempt counts. If a shard is missing, the others are
printed and the exit code is 3.

If a thresholds file judged the parts, also one that the suite names, merge
requires --thresholds.`

const mergeExample = `  # a suite in two parts, maybe on two machines
  ebpf-bench run --kernel 6.12 --shard 1/2 --out 1.json
  ebpf-bench run --kernel 6.12 --shard 2/2 --out 2.json
  ebpf-bench merge --thresholds thresholds.yml --out run.json 1.json 2.json

  # comparisons likewise
  ebpf-bench compare --kernel 6.12 --shard 1/2 --out 1.json old/ new/
  ebpf-bench compare --kernel 6.12 --shard 2/2 --out 2.json old/ new/
  ebpf-bench merge --format markdown 1.json 2.json`

type mergeFlags struct{ outcome }

func newMergeCommand(t *ui.Terminal) *cobra.Command {
	f := mergeFlags{outcome{format: "text"}}
	cmd := &cobra.Command{
		Use:               "merge [flags] FILE...",
		Short:             "Join the results of shards and judge them as one",
		Long:              mergeLong,
		Example:           mergeExample,
		Args:              cli.UsageArgs(cobra.MinimumNArgs(1)),
		ValidArgsFunction: cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), t, args)
		},
	}
	f.store.Register(cmd)
	flags := cmd.Flags()
	cli.CompareFormats.RegisterTables(cmd, t, &f.format, "what to print on stdout: text, json, markdown (of comparisons), bmf, gobench or csv")
	flags.StringVarP(&f.out, "out", "o", "", "also write the joined results as JSON to this `file`")
	flags.StringVar(&f.limits, "thresholds", "", "judge by the thresholds in this `file`")
	flags.BoolVar(&f.strict, "strict", false, "end with exit code 3 where the evidence is inconclusive, instead of passing")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print the verifier's whole log where it refused a program")
	_ = cmd.MarkFlagFilename("thresholds", "yml", "yaml")
	_ = cmd.MarkFlagFilename("out", "json")
	return cmd
}

func (f *mergeFlags) run(ctx context.Context, t *ui.Terminal, files []string) error {
	out, err := output.New(f.out, append([]string{f.limits}, files...))
	if err != nil {
		return exit.Usage(err)
	}
	parts, err := readParts(ctx, files)
	if err != nil {
		return cli.Refused(err)
	}
	if err := f.checkThresholds(parts); err != nil {
		return exit.Usage(err)
	}
	merged, notes, err := merge.Results(parts)
	for _, note := range notes {
		t.Say("%s", note)
	}
	if merged == nil {
		return exit.Usage(err)
	}
	policy, unfit := f.policy(merged)
	if unfit != nil {
		return exit.Usage(unfit)
	}
	for _, run := range merged.Runs {
		run.Thresholds = f.limits
	}
	for _, c := range merged.Comparisons {
		c.Thresholds = f.limits
	}
	if merged.Runs == nil {
		return f.comparisons(ctx, t, out, policy, nil, merged.Comparisons, err)
	}
	if cli.RunFormats.Of(f.format) == nil {
		return exit.Usage(bench.WithHint(fmt.Errorf("--format %s is for comparisons, and these are runs", f.format), "take text, json, bmf, gobench or csv"))
	}
	return f.runs(ctx, t, writerOf(out), policy, nil, merged.Runs, err)
}

// readParts reads files. Together they may be as large as a single one.
func readParts(ctx context.Context, files []string) ([]*bench.Part, error) {
	var parts []*bench.Part
	var size int64
	for _, name := range files {
		p, n, err := readPart(ctx, name)
		if err != nil {
			return nil, err
		}
		if size += n; size > bench.MaxRunSize {
			return nil, fmt.Errorf("the files are larger than %d MiB together", bench.MaxRunSize>>20)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func readPart(ctx context.Context, name string) (*bench.Part, int64, error) {
	file, err := input.Open(ctx, name)
	if err != nil {
		return nil, 0, exit.Usage(err)
	}
	defer file.Close()
	p, err := bench.DecodePart(name, file)
	return p, file.Size(), err
}

// checkThresholds refuses to judge by other thresholds than those of the parts, unless
// they are named by a flag. The author of a part must not choose the file that is opened
// here, so only the error mentions its name.
func (f *mergeFlags) checkThresholds(parts []*bench.Part) error {
	var names []string
	for _, p := range parts {
		for _, run := range p.Runs {
			names = unit.AppendNew(names, run.Thresholds)
		}
		for _, c := range p.Comparisons {
			names = unit.AppendNew(names, c.Thresholds)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	switch {
	case f.limits != "" || len(names) == 0:
		return nil
	case len(names) > 1 || !plainName.MatchString(names[0]):
		return bench.WithHint(fmt.Errorf("the parts were judged by %s", unit.Few(names)), "give --thresholds FILE")
	}
	return bench.WithHint(fmt.Errorf("the parts were judged by %s", names[0]), "give --thresholds "+names[0])
}

// plainName matches a name that a shell takes literally.
var plainName = regexp.MustCompile(`^[\w./@+][\w./@+-]*$`)

// policy returns the policy to judge by, checked against the results.
func (f *mergeFlags) policy(merged *bench.Results) (*thresholds.Policy, error) {
	if f.limits == "" {
		return thresholds.Default(), nil
	}
	policy, err := thresholds.Load(suite.OS, filepath.ToSlash(f.limits))
	if err != nil {
		return nil, err
	}
	return policy, policy.Check(judge.Scope(merged))
}
