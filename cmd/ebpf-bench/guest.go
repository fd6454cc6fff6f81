package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
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
func newGuestCommand(t *terminal) *cobra.Command {
	var f guestFlags
	cmd := &cobra.Command{
		Use:    "guest [flags] [suite.yml]",
		Short:  "Measure in a virtual machine, for run --kernel",
		Hidden: true,
		Args:   usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			results := vm.Results()
			if results == nil {
				return usage(errors.New("this is no virtual machine: use run --kernel"))
			}
			s, err := f.load(t, args)
			if err != nil {
				return usage(err)
			}
			plan, err := runner.NewPlan(s)
			if err != nil {
				return usage(err)
			}
			report := func(run *bench.Run) error { return bench.Encode(results, run) }
			run, err := runner.Measure(cmd.Context(), plan, runner.Options{
				Rounds: f.rounds, Budget: f.budget, Seed: f.seed, Loads: f.loads,
				Tool: version(), Mode: bench.Mode(f.mode), Save: report,
			})
			if run == nil {
				return noMeasure(err)
			}
			return report(run)
		},
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.root, "root", "", "folder of the suite's file system")
	flags.StringVar(&f.mode, "mode", "", "exact or kvm")
	flags.IntVar(&f.rounds, "rounds", 0, "")
	flags.IntVar(&f.loads, "loads", 0, "")
	flags.DurationVar(&f.budget, "budget", 0, "")
	flags.Uint64Var(&f.seed, "seed", 0, "")
	return cmd
}

// args are the flags as a command line.
func (f *guestFlags) args(mode vm.Mode) []string {
	args := []string{"guest", "--mode", mode.String()}
	add := func(name, value, zero string) {
		if value != zero {
			args = append(args, name, value)
		}
	}
	add("--filter", f.filter, "")
	add("--root", f.root, "")
	add("--rounds", itoa(f.rounds), "0")
	add("--loads", itoa(f.loads), "0")
	add("--budget", f.budget.String(), "0s")
	add("--seed", itoa(f.seed), "0")
	return args
}
