// Package baselinecmd implements the command ebpf-bench baseline, with a subcommand for
// each operation on a store of package baseline.
package baselinecmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

const baselineLong = `Keep runs for later comparisons: their numbers, and the objects that they
measured, which a comparison loads and measures again beside the new ones.

RUN is latest, a run's ID, or a tag or branch, which stands for its newest run.`

// command is the state that the subcommands share.
type command struct {
	t     *ui.Terminal
	store cli.Store
}

// New returns the command.
func New(t *ui.Terminal) *cobra.Command {
	b := &command{t: t}
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Keep runs for later comparisons",
		Long:  baselineLong,
		Args:  cli.UsageArgs(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	b.store.Register(cmd)
	cmd.AddCommand(b.save(), b.list(), b.show(), b.tag(), b.rm(), b.prune(), b.verify(), b.export(), b.importing())
	return cmd
}

func (b *command) open() *folder.Dir { return folder.Open(b.store.Folder) }

// existing is open for subcommands that need an existing baseline.
func (b *command) existing() (*folder.Dir, error) {
	d := b.open()
	err := d.Exists()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, folder.ErrNoStore) {
		return nil, exit.Usage(bench.WithHint(fmt.Errorf("no baseline in %s", b.store.Folder),
			"name its folder by --store, or make one by ebpf-bench run --save"))
	}
	return d, exit.NoMeasure(err)
}

// find returns the run that a word stands for.
func (b *command) find(ctx context.Context, name string) (baseline.Meta, error) {
	meta, err := sides.Find(ctx, b.store.Open(), name)
	if err != nil {
		return meta, exit.Usage(bench.WithHint(err, sides.ListHint))
	}
	return meta, nil
}

// onRun returns a command that runs do on the run that its first argument stands for.
func (b *command) onRun(do func(ctx context.Context, m baseline.Meta, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		meta, err := b.find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return do(cmd.Context(), meta, args[1:])
	}
}

// onStore returns a command that runs do on an existing baseline.
func (b *command) onStore(do func(ctx context.Context, d *folder.Dir, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		d, err := b.existing()
		if err != nil {
			return err
		}
		return do(cmd.Context(), d, args)
	}
}

// damaged returns an error for the problems of a store.
func (b *command) damaged(problems []baseline.Problem) error {
	var errs []error
	for _, p := range problems {
		errs = append(errs, bench.WithHint(p, bench.Hint(p)))
	}
	return exit.NoMeasure(errors.Join(errs...))
}

// complete completes the names of runs.
func (b *command) complete(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	names := []string{"latest"}
	runs, _, err := b.open().List(cmd.Context(), baseline.Query{Limit: 50})
	if err == nil {
		for _, m := range runs {
			names = append(append(names, m.ID, m.Branch), m.Tags...)
		}
	}
	return unit.Unique(names), cobra.ShellCompDirectiveNoFileComp
}
