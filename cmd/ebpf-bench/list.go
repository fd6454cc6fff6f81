package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/measure"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

// listed is one line of the list.
type listed struct {
	Benchmark string `json:"benchmark"`
	Driver    string `json:"driver"`
	Program   string `json:"program"`
	Type      string `json:"type"`
	Object    string `json:"object"`
	Packets   int    `json:"packets,omitempty"`
	Budget    string `json:"budget"`
	// Replace are the programs that replace functions of it.
	Replace []string `json:"replace,omitempty"`
	// NotRun is why the program is only loaded.
	NotRun string `json:"not_run,omitempty"`
	// Kernels are the kernels that the suite will be measured on.
	Kernels []string `json:"kernels,omitempty"`
}

func newListCommand(t *ui.Terminal) *cobra.Command {
	var sel selection
	var asJSON bool
	var cache string
	cmd := &cobra.Command{
		Use:     "list [flags] [suite.yml]",
		Short:   "List the benchmarks of a suite and check it",
		Long:    "List the benchmarks of a suite, and check the suite, its objects, thresholds and\nkernels as run does before it measures. It needs no privileges and no network.",
		Example: "  ebpf-bench list\n  ebpf-bench list --json ebpf-bench.yml",
		Args:    cli.UsageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := sel.load(t, args)
			if err != nil {
				return exit.Usage(err)
			}
			plan, err := runner.NewPlan(s.Suite)
			if err != nil {
				return exit.Usage(err)
			}
			if err := checkThresholds(t, cache, s); err != nil {
				return exit.Usage(err)
			}
			kernels, err := findKernels(cache, s.Kernels)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(t.Stdout).Encode(listOf(plan, s.Kernels))
			}
			return printList(t, listOf(plan, s.Kernels), kernels)
		},
	}
	sel.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&cache, "kernel-cache", "", cli.KernelCacheUsage)
	return cmd
}

// checkThresholds checks the thresholds that the suite names for every way to run it: a
// threshold that applies on no kernel that the suite names, or in no mode, is an error.
// One that run refuses unless flags say where to measure is a warning.
func checkThresholds(t *ui.Terminal, cache string, s *measure.Selected) error {
	file := judge.FileOf("", s.Suite)
	if file == "" {
		return nil
	}
	policy, err := judge.Load(file, s.Suite)
	if err != nil {
		return err
	}
	usual, err := measure.Scope(&fleet.Machines{Cache: cache}, s.Kernels)
	if err != nil {
		return err
	}
	usual.Benchmarks = s.All
	every := thresholds.Scope{Benchmarks: s.All}
	if len(s.Kernels) > 0 {
		every.Kernels = usual.Kernels
	}
	if err := policy.Check(every); err != nil {
		return err
	}
	for _, err := range exit.Each(policy.Check(usual)) {
		t.Warn("run refuses this without --kernel or --vm: %v", err)
	}
	return nil
}

func listOf(plan *runner.Plan, kernels []string) []listed {
	list := []listed{}
	for _, j := range plan.Jobs {
		list = append(list, listed{j.Name, j.Driver(), j.Program, j.Type(), j.Object.Path, len(j.Frames), j.BudgetText(), replacing(j.Benchmark), j.NotRun(), kernels})
	}
	return list
}

func replacing(b *bench.Benchmark) (programs []string) {
	for _, r := range b.Replace {
		programs = append(programs, r.Program)
	}
	return programs
}

// findKernels returns for each kernel of a suite what the cache has, as far as that is
// known without downloading.
func findKernels(dir string, names []string) (found []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	cache, err := kernel.OpenCache(dir)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range unit.Unique(names) {
		what := "not in the cache"
		switch release := cache.Release(name); {
		case release != "":
			what = "Linux " + release
		case name == "host":
			what = "what this machine runs"
		default:
			errs = append(errs, fleet.Misnamed(fleet.OnKernel(name, cache.Check(name))))
		}
		found = append(found, fmt.Sprintf("%s (%s)", ui.Clean(name), ui.Clean(what)))
	}
	return found, errors.Join(errs...)
}

func printList(t *ui.Terminal, list []listed, kernels []string) error {
	table := new(grid.Grid).Left("benchmark", "driver", "program", "type", "object", "packets", "budget")
	for _, l := range list {
		packets := grid.None
		if l.Packets > 0 {
			packets = fmt.Sprint(l.Packets)
		}
		table.Row(grid.Words(l.Benchmark, l.Driver, l.Program, l.Type, l.Object, packets, l.Budget)...)
	}
	if _, err := fmt.Fprintln(t.Stdout, table.Text(0, false)); err != nil {
		return err
	}
	if err := printReplaced(t, list); err != nil {
		return err
	}
	if err := printNotRun(t, list); err != nil || len(kernels) == 0 {
		return err
	}
	_, err := fmt.Fprintf(t.Stdout, "\n%s\n", ui.Wrap("kernels: "+strings.Join(kernels, ", "), t.Columns(), len("kernels: ")))
	return err
}

// printReplaced lists below the table which programs have functions replaced.
func printReplaced(t *ui.Terminal, list []listed) error {
	var text strings.Builder
	for _, l := range list {
		if len(l.Replace) > 0 {
			text.WriteString(ui.Wrap(fmt.Sprintf("%s: a function of it is replaced by each of: %s", ui.Clean(l.Benchmark), ui.Clean(strings.Join(l.Replace, ", "))), t.Columns(), 2) + "\n")
		}
	}
	if text.Len() == 0 {
		return nil
	}
	_, err := fmt.Fprintf(t.Stdout, "\n%s", text.String())
	return err
}

// printNotRun says below the table why programs are only loaded.
func printNotRun(t *ui.Terminal, list []listed) error {
	var text strings.Builder
	for _, l := range list {
		if l.NotRun != "" {
			text.WriteString(ui.Wrap(fmt.Sprintf("%s: not measured, because: %s", ui.Clean(l.Benchmark), ui.Clean(l.NotRun)), t.Columns(), 2) + "\n")
		}
	}
	if text.Len() == 0 {
		return nil
	}
	_, err := fmt.Fprintf(t.Stdout, "\n%s", text.String())
	return err
}
