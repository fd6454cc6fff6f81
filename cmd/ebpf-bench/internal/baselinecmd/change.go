package baselinecmd

// The commands that change the baseline, except save.

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/input"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

func (b *command) tag() *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:     "tag RUN TAG",
		Short:   "Mark a run, which prune then keeps",
		Example: "  ebpf-bench baseline tag latest v1.2",
		Args:    cli.UsageArgs(cobra.ExactArgs(2)),
		RunE: b.onRun(func(ctx context.Context, meta baseline.Meta, args []string) error {
			tag := args[0]
			if remove {
				if err := b.open().Untag(ctx, meta.ID, tag); err != nil {
					return cli.Refused(err)
				}
				fmt.Fprintf(b.t.Stdout, "took the tag %s off run %s\n", ui.Clean(tag), meta.ID)
				return nil
			}
			if err := cmp.Or(cli.Reserved("tag", tag), b.store.Shadows(ctx, tag)); err != nil {
				return exit.Usage(err)
			}
			if err := b.open().Tag(ctx, meta.ID, tag); err != nil {
				return cli.Refused(err)
			}
			newest, err := baseline.Latest(ctx, b.open(), baseline.Query{Tag: tag})
			if err != nil {
				return cli.Refused(err)
			}
			is := "it"
			if newest.ID != meta.ID {
				is = "still run " + newest.ID + ", which is newer and has the tag too"
			}
			fmt.Fprintf(b.t.Stdout, "tagged run %s: baseline:%s now is %s\n", meta.ID, ui.Clean(tag), is)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "take the tag off")
	return cmd
}

func (b *command) rm() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:               "rm RUN...",
		Short:             "Remove runs",
		Example:           "  ebpf-bench baseline rm 20261121T114900Z-5f0c2a91",
		Args:              cli.UsageArgs(cobra.MinimumNArgs(1)),
		ValidArgsFunction: b.complete,
		RunE: b.onStore(func(ctx context.Context, d *folder.Dir, args []string) error {
			// Resolve all names before anything is removed.
			var ids []string
			for _, name := range args {
				meta, err := b.find(ctx, name)
				switch {
				case errors.Is(err, baseline.ErrNotFound):
					if baseline.CheckID(name) != nil {
						return exit.Usage(bench.WithHint(err, sides.ListHint))
					}
					// A damaged run can only be named by its ID.
					ids = append(ids, name)
					continue
				case err != nil:
					return err
				case len(meta.Tags) > 0 && !force:
					return exit.Usage(bench.WithHint(fmt.Errorf("run %s has %s (%s)", meta.ID, unit.Plural(len(meta.Tags), "tag"), strings.Join(meta.Tags, ", ")),
						"--force removes it all the same"))
				}
				ids = append(ids, meta.ID)
			}
			for _, id := range unit.Unique(ids) {
				err := d.Remove(ctx, id)
				if errors.Is(err, baseline.ErrNotFound) {
					return exit.Usage(bench.WithHint(fmt.Errorf("no run, tag or branch %q: %w", id, baseline.ErrNotFound), sides.ListHint))
				}
				if err != nil {
					return exit.NoMeasure(err)
				}
				fmt.Fprintf(b.t.Stdout, "removed run %s\n", id)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false, "also remove runs that have tags")
	return cmd
}

func (b *command) prune() *cobra.Command {
	var keep int
	cmd := &cobra.Command{
		Use:     "prune --keep N",
		Short:   "Remove old runs",
		Long:    "Keep every tagged run and, of each branch and testbed, the newest N runs. Remove\nall others, and what a killed process left.",
		Example: "  ebpf-bench baseline prune --keep 100",
		Args:    cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if keep < 1 {
				return cli.UsageError(cmd, errors.New("--keep must be 1 or more"))
			}
			d, err := b.existing()
			if err != nil {
				return err
			}
			done, err := d.Prune(cmd.Context(), keep)
			if err != nil && len(done.Runs) == 0 {
				return exit.NoMeasure(err)
			}
			fmt.Fprintf(b.t.Stdout, "removed %s\n", unit.Plural(len(done.Runs), "run"))
			return errors.Join(exit.NoMeasure(err), b.damaged(done.Problems))
		},
	}
	cmd.Flags().IntVar(&keep, "keep", 0, "how many runs of each branch and testbed to keep")
	return cmd
}

func (b *command) importing() *cobra.Command {
	return &cobra.Command{
		Use:     "import FILE",
		Short:   "Add the runs of an exported file",
		Example: "  ebpf-bench baseline import main.tar",
		Args:    cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := input.Open(cmd.Context(), args[0])
			if err != nil {
				return exit.Usage(err)
			}
			defer file.Close()
			content := bufio.NewReader(file)
			if looksLikeJSON(content) {
				return exit.Usage(bench.WithHint(fmt.Errorf("import %s: it is not an export of ebpf-bench baseline export", args[0]),
					"keep the results of ebpf-bench run --out by ebpf-bench baseline save"))
			}
			runs, err := b.open().Import(cmd.Context(), content)
			if err != nil {
				return cli.Refused(fmt.Errorf("import %s: %w", args[0], err))
			}
			for _, m := range runs {
				if m.Time.After(time.Now()) {
					b.t.Warn("run %s started in the future: it will be the latest until then, unless baseline rm removes it", m.ID)
				}
			}
			fmt.Fprintf(b.t.Stdout, "imported %s\n", unit.Plural(len(runs), "run"))
			return printRuns(b.t.Stdout, runs, b.t.Columns())
		},
	}
}

// looksLikeJSON reports whether a file begins as results do, and no export does.
func looksLikeJSON(r *bufio.Reader) bool {
	head, _ := r.Peek(64)
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{"))
}
