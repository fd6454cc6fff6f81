package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/runner"
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
}

func newListCommand(t *terminal) *cobra.Command {
	var sel selection
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [flags] [suite.yml]",
		Short:   "List the benchmarks of a suite, and check it",
		Long:    "List the benchmarks of a suite, and check the suite and its objects as run does\nbefore it measures. It takes no privileges.",
		Example: "  ebpf-bench list\n  ebpf-bench list --json ebpf-bench.yml",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := sel.load(t, args)
			if err != nil {
				return usage(err)
			}
			plan, err := runner.NewPlan(s)
			if err != nil {
				return usage(err)
			}
			return printList(t, plan, asJSON)
		},
	}
	sel.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printList(t *terminal, plan *runner.Plan, asJSON bool) error {
	list := []listed{}
	for _, j := range plan.Jobs {
		list = append(list, listed{j.Name, j.Driver(), j.Program, j.Type(), j.Object.Path, len(j.Frames), j.BudgetText()})
	}
	if asJSON {
		return json.NewEncoder(t.stdout).Encode(list)
	}
	w := tabwriter.NewWriter(t.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "benchmark\tdriver\tprogram\ttype\tobject\tpackets\tbudget")
	for _, l := range list {
		packets := "-"
		if l.Packets > 0 {
			packets = fmt.Sprint(l.Packets)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", clean(l.Benchmark), l.Driver, clean(l.Program), l.Type, clean(l.Object), packets, l.Budget)
	}
	return w.Flush()
}
