package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/cmd/ebpf-bench/internal/baselinecmd"
	"github.com/org/ebpf-bench-action/cmd/ebpf-bench/internal/doctorcmd"
	"github.com/org/ebpf-bench-action/cmd/ebpf-bench/internal/kernelcmd"
	"github.com/org/ebpf-bench-action/cmd/ebpf-bench/internal/profilecmd"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/ui"
)

const rootLong = `ebpf-bench measures what a run of an eBPF program costs, in the real kernel.

It loads the programs that a suite file names, drives them with packets and
load, and reads the run time that the kernel counts for each.

Exit codes: 0 pass, 1 regression, 2 usage or config error, 3 could not measure.`

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	t := ui.New(stdout, stderr)
	root := newRoot(t)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	t.PrintError(err)
	return exit.CodeOf(err)
}

func newRoot(t *ui.Terminal) *cobra.Command {
	root := &cobra.Command{
		Use:           "ebpf-bench",
		Short:         "Benchmark eBPF programs in the real kernel",
		Long:          rootLong,
		Version:       version(),
		Args:          cli.UsageArgs(cobra.NoArgs),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		// An empty value is rarely meant: it comes from a variable that is not set.
		PersistentPreRunE: cli.RefuseEmpty,
	}
	root.SetFlagErrorFunc(cli.FlagError)
	root.SetVersionTemplate("ebpf-bench {{.Version}}\n")
	cli.OneOf(root, root.PersistentFlags(), &t.Color, "color", "when", []string{"auto", "always", "never"}, "when to color the output: auto, always or never")
	root.AddCommand(newRunCommand(t), newCompareCommand(t), newExplainCommand(t), newSearchCommand(t), newMergeCommand(t), baselinecmd.New(t), newListCommand(t), doctorcmd.New(t), kernelcmd.New(t), newInitCommand(t), newIngestCommand(t), profilecmd.New(t), newSelftestCommand(t), newGuestCommand(), newManualCommand(), newActionCommand(t), newSchemaCommand(), newVersionCommand())
	addCompletion(root)
	wrapHelp(t, root)
	return root
}

// addCompletion adds cobra's command, with the checks of arguments that the others have.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args, c.RunE = cli.UsageArgs(cobra.NoArgs), func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		for _, shell := range c.Commands() {
			shell.Args = cli.UsageArgs(cobra.NoArgs)
		}
	}
}
