package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/vm"
	"github.com/org/ebpf-bench-action/runner"
)

// onKernel compares on one kernel. A comparison that ended early comes with
// the error that ended it.
func (f *compareFlags) onKernel(ctx context.Context, vms *machines, m *matchup, name string) (*bench.Comparison, error) {
	flags := guestFlags{budget: f.budget, seed: f.seed}
	files, suiteArg := guestSuite(m.suite, &flags)
	if err := m.objects.pack(files); err != nil {
		return nil, err
	}
	all := pairNames(m.pairs)
	c, info, err := comparisons.of(ctx, vms, name, all, guest{
		files: files,
		args:  func(mode vm.Mode) []string { return append(flags.args("guest-compare", mode), suiteArg...) },
	})
	err = losePair(c, all, err)
	if c != nil {
		c.Testbed.Asked, c.Testbed.QEMU, c.Started = name, info.QEMU, info.Started
		c.Partial = c.Partial || err != nil
		m.name(c)
	}
	return c, err
}

// losePair adds the pair that was being measured when the machine failed: the
// first that was not reported.
func losePair(c *bench.Comparison, all []string, err error) error {
	if c == nil || len(c.Pairs) >= len(all) || lossOf(err) == "" {
		return err
	}
	name := all[len(c.Pairs)]
	head := &bench.Result{Benchmark: name}
	c.Pairs = append(c.Pairs, bench.Pair{Benchmark: name, Base: &bench.Result{Benchmark: name}, Head: head})
	return lose(head, err)
}

var comparisons = guestReports[bench.Comparison]{
	decode: bench.DecodeComparison,
	add: func(all, latest *bench.Comparison) *bench.Comparison {
		if all != nil {
			latest.Pairs = append(all.Pairs, latest.Pairs...)
		}
		return latest
	},
	done: func(c *bench.Comparison) int { return len(c.Pairs) },
}

// newGuestCompareCommand compares two sides in a virtual machine.
func newGuestCompareCommand(t *ui.Terminal) *cobra.Command {
	var f guestFlags
	cmd := &cobra.Command{
		Use:    "guest-compare [flags] [suite.yml]",
		Short:  "Compare in a virtual machine, for compare --kernel",
		Hidden: true,
		Args:   usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			results := vm.Results()
			if results == nil {
				return exit.Usage(errors.New("this is no virtual machine: use compare --kernel"))
			}
			pairs, err := f.pairs(t, args)
			if err != nil {
				return exit.Usage(err)
			}
			return exit.NoMeasure(compareEach(cmd.Context(), pairs, runner.Options{
				Budget: f.budget, Seed: f.seed, Tool: version(), Mode: bench.Mode(f.mode),
			}, func(c *bench.Comparison) error { return bench.EncodeComparison(results, c) }))
		},
	}
	f.registerGuest(cmd)
	return cmd
}

func (f *guestFlags) pairs(t *ui.Terminal, args []string) ([]runner.PairJob, error) {
	s, err := f.load(t, args)
	if err != nil {
		return nil, err
	}
	objects, err := unpackSides()
	if err != nil {
		return nil, err
	}
	return objects.plan(s)
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
