package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/thresholds"
)

const compareExample = `  # two builds of an object: every program that both have, side by side
  sudo ebpf-bench compare old/fun.o new/fun.o

  # the same, with the workloads of a suite
  sudo ebpf-bench compare --suite ebpf-bench.yml old/fun.o new/fun.o

  # exact instructions instead of time, without root
  ebpf-bench compare --kernel 6.12 old/fun.o new/fun.o

  # what is here against what the baseline has of main
  sudo ebpf-bench compare baseline:main`

type compareFlags struct {
	suite    string
	filter   string
	shard    shardFlag
	format   compareFormat
	out      string
	limits   string
	budget   time.Duration
	seed     uint64
	strict   bool
	verbose  bool
	store    storeFlag
	machines cli.MachineFlags
}

func newCompareCommand(t *ui.Terminal) *cobra.Command {
	f := compareFlags{format: "text"}
	cmd := &cobra.Command{
		Use:     "compare [flags] BASE [HEAD]",
		Short:   "Compare two builds, and fail when one got slower",
		Long:    "Compare two builds of eBPF programs. Both are loaded in the same kernel and\nmeasured in turn, in many short rounds, so that what the machine does meanwhile\nis done to both. What looks slower or faster is measured a second time before it\nis called so.\n\n" + sides.Help + "\n\nWithout HEAD it is the suite in this folder. Two result files, or a\nresult file and a baseline, are compared by their numbers, if they are of the same\ntestbed.\n\nThresholds that have a history judge the head also among the earlier runs that\nthe baseline has of the same testbed, and of the base's branch if it has one.",
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
	f.store.register(cmd)
	flags := cmd.Flags()
	suiteFlag(cmd, &f.suite, "drive the programs by the workloads of this suite `file`")
	flags.StringVar(&f.filter, "filter", "", "only benchmarks whose name matches this `regexp`")
	f.shard.register(cmd)
	flags.Var(&f.format, "format", "what to print on stdout: text, json, markdown, csv, or of the head alone bmf or gobench")
	flags.StringVarP(&f.out, "out", "o", "", "also write the comparison as JSON to this `file`")
	flags.StringVar(&f.limits, "thresholds", "", "judge by the thresholds in this `file` (default: that which the suite names)")
	flags.DurationVar(&f.budget, "budget", 0, "measuring time of each benchmark (default: twice the suite's)")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the order of the rounds (default: random)")
	flags.BoolVar(&f.strict, "strict", false, "end with exit code 3 where the evidence is inconclusive, instead of passing")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print the verifier's whole log when it refuses a program")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(compareFormats, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.MarkFlagFilename("thresholds", "yml", "yaml")
	_ = cmd.MarkFlagFilename("out", "json")
	return cmd
}

func (f *compareFlags) check(given func(flag string) bool) error {
	switch {
	case given("budget") && f.budget <= 0:
		return errors.New("--budget must be more than 0")
	case given("seed") && f.seed == 0:
		return errors.New("--seed must be from 1 on")
	}
	return nil
}

func (f *compareFlags) run(ctx context.Context, t *ui.Terminal, args []string) error {
	matchup, err := f.open(ctx, t, args)
	if err != nil {
		return exit.Usage(err)
	}
	policy, kernels, err := f.policy(t, matchup)
	if err != nil {
		return exit.Usage(err)
	}
	out, err := newOutFile(f.out, matchup.Reads(f.limits, f.suite))
	if err != nil {
		return exit.Usage(err)
	}
	if matchup.Suite != nil && len(matchup.Pairs) == 0 {
		return f.writeEmpty(t, matchup, out)
	}
	comparisons, err := f.compare(ctx, t, matchup, policy)
	if len(comparisons) == 0 {
		return exit.NoMeasure(err)
	}
	sayForeign(t, matchup, comparisons)
	j := f.store.judge(policy, f.strict)
	j.Elsewhere = f.format == "bmf"
	off := j.Missed(kernels, judge.Testbeds(comparisons))
	judged, notes, unread := j.Comparisons(ctx, comparisons)
	sayNotes(t, notes)
	return errors.Join(
		out.write(func(w io.Writer) error { return report.CompareJSON(w, judged) }), printComparison(t, f.format, judged),
		off, verdict(t, j, judged), unread, exit.NoMeasure(err), judge.Uncompared(comparisons, f.verbose, err), exit.NoMeasure(matchup.NotCompared(comparisons)))
}

// verdict is what keeps a comparison from passing, and says what is over budget.
func verdict(t *ui.Terminal, j *judge.Judge, judged *report.Comparison) error {
	notes, err := j.Verdict(judged)
	sayNotes(t, notes)
	return err
}

func (f *compareFlags) open(ctx context.Context, t *ui.Terminal, args []string) (*sides.Matchup, error) {
	re, err := regexp.Compile(f.filter)
	if err != nil {
		return nil, fmt.Errorf("--filter: %w", err)
	}
	m, err := sides.Options{
		Command: "compare", Suite: f.suite, Filter: re, Shard: f.shard.Shard, Store: f.store.open(),
		Near: func(head *sides.Side) func(baseline.Meta) bool { return nearest(t, head, f.suite, &f.machines) },
	}.Match(ctx, args)
	if err != nil {
		return nil, err
	}
	sayMatched(t, m)
	if m.Suite == nil {
		return m, f.checkNumbers()
	}
	return m, nil
}

// sayMatched says what a reader may not expect of what was matched.
func sayMatched(t *ui.Terminal, m *sides.Matchup) {
	sayBundled(t, m.Head.Suite)
	if len(m.LeftOut) > 0 {
		t.Say("left out, because neither side has the program: %s", strings.Join(m.LeftOut, ", "))
	}
}

// checkNumbers refuses flags of what is measured where nothing is.
func (f *compareFlags) checkNumbers() error {
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"suite", f.suite != ""}, {"kernel", len(f.machines.Kernels) > 0}, {"vm", f.machines.Mode != ""},
		{"shard", f.shard.Shard != nil}, {"budget", f.budget != 0}, {"seed", f.seed != 0},
	} {
		if flag.given {
			return fmt.Errorf("--%s: there are no objects to measure, just results", flag.name)
		}
	}
	return nil
}

func (f *compareFlags) policy(t *ui.Terminal, m *sides.Matchup) (*thresholds.Policy, []thresholds.Kernel, error) {
	if f.limits = judge.FileOf(f.limits, ownSuite(m)); f.limits == "" {
		return thresholds.Default(), nil, nil
	}
	policy, err := judge.Load(f.limits, m.Suite)
	if err != nil {
		return nil, nil, err
	}
	scope, err := f.scope(t, m)
	if err != nil {
		return nil, nil, err
	}
	if err := policy.Check(scope); err != nil {
		return nil, nil, err
	}
	sayIdle(t, policy.OtherMode(scope.Modes))
	return policy, scope.Kernels, nil
}

// ownSuite is the suite of a comparison with the files that it names, nil where it
// was stored without these.
func ownSuite(m *sides.Matchup) *suite.Suite {
	for _, s := range []*sides.Side{m.Base, m.Head} {
		if s.Runs != nil && s.Suite == m.Suite {
			return nil
		}
	}
	return m.Suite
}

// scope is what thresholds can be for.
func (f *compareFlags) scope(t *ui.Terminal, m *sides.Matchup) (thresholds.Scope, error) {
	scope := m.Scope()
	if m.Suite == nil {
		return scope, nil
	}
	on, err := scopeOn(&f.machines, t, m.Suite.Kernels)
	scope.Kernels, scope.Modes = on.Kernels, on.Modes
	return scope, err
}

// compare measures what has objects, and takes the numbers of what has not.
func (f *compareFlags) compare(ctx context.Context, t *ui.Terminal, m *sides.Matchup, policy *thresholds.Policy) ([]*bench.Comparison, error) {
	all, err := f.compareAll(ctx, t, m, policy)
	for _, c := range all {
		c.Shard, c.Thresholds = f.shard.Shard, f.limits
	}
	return all, err
}

func (f *compareFlags) compareAll(ctx context.Context, t *ui.Terminal, m *sides.Matchup, policy *thresholds.Policy) ([]*bench.Comparison, error) {
	if m.Suite == nil {
		return m.Compare(), nil
	}
	if kernels := f.machines.Choose(m.Suite.Kernels); len(kernels) > 0 {
		return f.onKernels(ctx, t, m, kernels)
	}
	c, err := f.onHost(ctx, t, m, policy)
	if c == nil {
		return nil, err
	}
	return []*bench.Comparison{c}, err
}
