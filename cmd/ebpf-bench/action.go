package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/action"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/ui"
)

const actionLong = `The steps of the GitHub Action, as action.yml calls them, one after the other. They
take its inputs from the environment (EBPF_BENCH_CONFIG for config and so on) and
hand on what they found by files in the folder EBPF_BENCH_STATE.

  plan     finds the base, and lays it out; has the token
  build    builds the checkout and the base; has no token
  measure  measures the two side by side; has no token
  report   judges, and tells GitHub; has the token

What has the token runs nothing that the pull request brings, and what runs it has
no token. Where there is no GitHub, all of it works on this machine alone.`

func newActionCommand(t *ui.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:    "action",
		Short:  "The steps of the GitHub Action",
		Long:   actionLong,
		Hidden: true,
		Args:   cli.UsageArgs(cobra.NoArgs),
		RunE:   func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, step := range []struct{ name, short string }{
		{"plan", "Find the base and lay it out"},
		{"build", "Build the checkout and the base"},
		{"measure", "Measure base and head side by side"},
		{"report", "Judge what was measured, and tell GitHub"},
	} {
		cmd.AddCommand(&cobra.Command{
			Use:   step.name,
			Short: step.short,
			Args:  cli.UsageArgs(cobra.NoArgs),
			RunE: func(cmd *cobra.Command, _ []string) error {
				return action.Do(cmd.Context(), t, os.Getenv, version(), step.name)
			},
		})
	}
	return cmd
}
