package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/action"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/ui"
)

const actionLong = `The steps of the GitHub Action, in the order in which action.yml calls them.
They read its inputs from the environment (EBPF_BENCH_CONFIG for config and so
on) and pass results on in files in the folder EBPF_BENCH_STATE.

  plan     finds the base and checks it out; has the token
  build    builds the checkout and the base; has no token
  measure  measures the two side by side; has no token
  report   judges and reports to GitHub; has the token

Steps with the token run nothing from the pull request, and steps that run its
code have no token. Outside GitHub, all of it works on this machine alone.`

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
		{"report", "Judge the results and report to GitHub"},
	} {
		cmd.AddCommand(&cobra.Command{
			Use:   step.name,
			Short: step.short,
			Args:  cli.UsageArgs(cobra.NoArgs),
			RunE: func(cmd *cobra.Command, _ []string) error {
				return actionOptions(t).Do(cmd.Context(), step.name)
			},
		})
	}
	return cmd
}

// actionOptions returns options that write to t. On a runner, t itself no longer prints
// lines that are commands: the text of programs, builds and the verifier comes from
// strangers.
func actionOptions(t *ui.Terminal) action.Options {
	log := t.Stdout
	if github.OnActions(os.Getenv) {
		color := t.Color
		*t = *ui.New(escape.NewLogWriter(t.Stdout), escape.NewLogWriter(t.Stderr))
		t.Color = color
	}
	return action.Options{Tool: version(), Getenv: os.Getenv, Commands: log, Stdout: t.Stdout, Stderr: t.Stderr, Watch: cli.Watch{Terminal: t}}
}
