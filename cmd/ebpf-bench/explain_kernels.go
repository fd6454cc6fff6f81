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

// onKernel counts on one kernel. An explanation that ended early comes with the
// error that ended it.
func (f *explainFlags) onKernel(ctx context.Context, vms *machines, s *explainSides, name string) (*bench.Explanation, error) {
	var flags guestFlags
	files, suiteArg := guestSuite(s.suite, &flags)
	if err := s.objects.pack(files); err != nil {
		return nil, err
	}
	all := pairNames(s.pairs)
	e, info, err := explanations.of(ctx, vms, name, all, guest{
		files: files,
		args: func(mode vm.Mode) []string {
			args := flags.args("guest-explain", mode)
			if s.one {
				args = append(args, "--one")
			}
			if s.baseObject != "" {
				args = append(args, "--base-object", s.baseObject)
			}
			if f.code() {
				args = append(args, "--asm")
			}
			return append(args, suiteArg...)
		},
	})
	err = loseExplained(e, all, err)
	if e != nil {
		e.Testbed.QEMU, e.Started = info.QEMU, info.Started
		s.name(e)
	}
	return e, err
}

// loseExplained adds the benchmark that was being counted when the machine failed:
// the first that was not reported.
func loseExplained(e *bench.Explanation, all []string, err error) error {
	if e == nil || len(e.Programs) >= len(all) || lossOf(err) == "" {
		return err
	}
	r := &bench.Result{Benchmark: all[len(e.Programs)]}
	err = lose(r, err)
	e.Programs = append(e.Programs, bench.Explained{Benchmark: r.Benchmark, Error: r.Error, Hint: r.Hint})
	return err
}

var explanations = guestReports[bench.Explanation]{
	decode: bench.DecodeExplanation,
	add: func(all, latest *bench.Explanation) *bench.Explanation {
		if all != nil {
			latest.Programs = append(all.Programs, latest.Programs...)
		}
		return latest
	},
	done: func(e *bench.Explanation) int { return len(e.Programs) },
}

// newGuestExplainCommand explains in a virtual machine.
func newGuestExplainCommand(t *ui.Terminal) *cobra.Command {
	var f guestFlags
	var plan explainPlan
	var code bool
	cmd := &cobra.Command{
		Use:    "guest-explain [flags] [suite.yml]",
		Short:  "Explain in a virtual machine, for explain --kernel",
		Hidden: true,
		Args:   usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			results := vm.Results()
			if results == nil {
				return exit.Usage(errors.New("this is no virtual machine: use explain --kernel"))
			}
			s, err := f.load(t, args)
			if err != nil {
				return exit.Usage(err)
			}
			objects, err := unpackSides()
			if err != nil {
				return exit.Usage(err)
			}
			pairs, err := plan.plan(objects, s)
			if err != nil {
				return exit.Usage(err)
			}
			return exit.NoMeasure(explainEach(cmd.Context(), pairs, runner.Options{Tool: version(), Mode: bench.Mode(f.mode)}, code,
				func(e *bench.Explanation) error { return bench.EncodeExplanation(results, e) }))
		},
	}
	f.registerGuest(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&plan.one, "one", false, "")
	flags.StringVar(&plan.baseObject, "base-object", "", "")
	flags.BoolVar(&code, "asm", false, "")
	return cmd
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
