package main

import (
	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/job"
)

// newGuestCommand returns the command that does a job in a virtual machine.
func newGuestCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "guest MODE",
		Short:  "Measure in a virtual machine, for --kernel",
		Hidden: true,
		Args:   cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return job.Serve(cmd.Context(), bench.Mode(args[0]), version())
		},
	}
}
