package main

// The commands that change the baseline, beside save.

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
)

func (b *baselineCommand) tag() *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:     "tag RUN TAG",
		Short:   "Mark a run, which prune then keeps",
		Example: "  ebpf-bench baseline tag latest v1.2",
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE: b.onRun(func(ctx context.Context, meta baseline.Meta, args []string) error {
			if remove {
				return usage(b.open().Untag(ctx, meta.ID, args[0]))
			}
			return usage(b.open().Tag(ctx, meta.ID, args[0]))
		}),
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "take the tag off")
	return cmd
}

func (b *baselineCommand) prune() *cobra.Command {
	var keep int
	cmd := &cobra.Command{
		Use:     "prune --keep N",
		Short:   "Remove old runs, and objects that no run needs any more",
		Long:    "Keep every tagged run and, of each branch and testbed, the newest N runs. Remove\nall others, the objects that only they had, and what a killed process left.",
		Example: "  ebpf-bench baseline prune --keep 100",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if keep < 1 {
				return usageError(cmd, errors.New("--keep must be 1 or more"))
			}
			done, err := b.open().Prune(cmd.Context(), keep)
			if err != nil {
				return noMeasure(err)
			}
			fmt.Fprintf(b.t.stdout, "removed %s, %s, %s\n", plural(len(done.Runs), "run"), plural(done.Objects, "object"), plural(done.Leftovers, "leftover file"))
			return b.damaged(done.Problems)
		},
	}
	cmd.Flags().IntVar(&keep, "keep", 0, "how many runs of each branch and testbed to keep")
	return cmd
}

func (b *baselineCommand) rebuild() *cobra.Command {
	return &cobra.Command{
		Use:   "rebuild",
		Short: "Make the index anew from the runs",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			problems, err := b.open().Rebuild(cmd.Context())
			return errors.Join(noMeasure(err), b.damaged(problems))
		},
	}
}

func (b *baselineCommand) importing() *cobra.Command {
	return &cobra.Command{
		Use:     "import FILE",
		Short:   "Take the runs of an exported file",
		Example: "  ebpf-bench baseline import main.tar.zst",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := os.Open(args[0])
			if err != nil {
				return usage(err)
			}
			defer file.Close()
			runs, err := b.open().Import(cmd.Context(), file)
			if err != nil {
				return usage(fmt.Errorf("import %s: %w", args[0], err))
			}
			return printRuns(b.t.stdout, runs)
		},
	}
}
