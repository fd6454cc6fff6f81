package baselinecmd

// The commands that only read the baseline.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/report/measured"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

func (b *command) list() *cobra.Command {
	var asJSON bool
	var branch string
	var q baseline.Query
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the runs, the newest first",
		Example: "  ebpf-bench baseline list --branch main --limit 10",
		Args:    cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if branch != "" {
				q.Branches = []string{branch}
			}
			if q.Limit < 0 {
				return cli.UsageError(cmd, errors.New("--limit must be 0 or more"))
			}
			runs, problems, err := b.open().List(cmd.Context(), q)
			if err != nil {
				return cli.Refused(err)
			}
			if err := b.open().Exists(); errors.Is(err, fs.ErrNotExist) || errors.Is(err, folder.ErrNoStore) {
				b.t.Say("no baseline in %s yet", b.store.Folder)
			}
			if asJSON {
				err = json.NewEncoder(b.t.Stdout).Encode(append([]baseline.Meta{}, runs...))
			} else {
				err = printRuns(b.t.Stdout, runs, b.t.Columns())
			}
			return errors.Join(err, b.damaged(problems))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&branch, "branch", "", "only runs of this `branch`")
	flags.StringVar(&q.Commit, "commit", "", "only runs of this `commit`, or one that begins so")
	flags.StringVar(&q.Tag, "tag", "", "only runs with this `tag`")
	flags.IntVar(&q.Limit, "limit", 0, "only this many, the newest")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (b *command) show() *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:               "show RUN",
		Short:             "Print the results of a run",
		Example:           "  ebpf-bench baseline show main\n  ebpf-bench baseline show latest --format json > latest.json",
		Args:              cli.UsageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: b.complete,
		RunE: b.onRun(func(ctx context.Context, meta baseline.Meta, _ []string) error {
			entry, err := b.open().Load(ctx, meta.ID)
			if err != nil {
				return exit.NoMeasure(err)
			}
			m := measured.New(entry.Run)
			m.Color, m.Brief = b.t.Colored(b.t.Stdout), !b.t.ExplainColumns
			return cli.RunFormats.Of(format)(b.t.Stdout, m)
		}),
	}
	cli.RunFormats.RegisterTables(cmd, b.t, &format, "what to print: text, json, bmf, gobench or csv")
	return cmd
}

func (b *command) verify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check every file of the baseline",
		Args:  cli.UsageArgs(cobra.NoArgs),
		RunE: b.onStore(func(ctx context.Context, store *folder.Dir, _ []string) error {
			problems, err := store.Verify(ctx)
			if err != nil {
				return exit.NoMeasure(err)
			}
			if err := b.damaged(problems); err != nil {
				return err
			}
			runs, _, err := store.List(ctx, baseline.Query{})
			if err != nil {
				return exit.NoMeasure(err)
			}
			fmt.Fprintf(b.t.Stdout, "%s, all whole\n", unit.Plural(len(runs), "run"))
			return nil
		}),
	}
}

func (b *command) export() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "export --out FILE [RUN...]",
		Short:   "Write runs with their objects to one file",
		Example: "  ebpf-bench baseline export --out main.tar main\n  ebpf-bench baseline export --out all.tar",
		Args:    cli.UsageArgs(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return cli.UsageError(cmd, errors.New("--out is missing: it names the file to write"))
			}
			store, err := b.existing()
			if err != nil {
				return err
			}
			ids, problems, err := b.exported(cmd.Context(), store, args)
			if err != nil {
				return err
			}
			if isWithin(filepath.Dir(out), b.store.Folder) {
				return exit.Usage(fmt.Errorf("--out: %s is in the baseline: an export is kept elsewhere", out))
			}
			file, err := output.New(out, nil)
			if err != nil {
				return exit.Usage(err)
			}
			err = file.Write(func(w io.Writer) error { return store.Export(cmd.Context(), w, ids...) })
			if info, gone := os.Stat(out); err == nil && gone == nil {
				fmt.Fprintf(b.t.Stdout, "wrote %s to %s (%s)\n", unit.Plural(len(unit.Unique(ids)), "run"), ui.Clean(out), unit.Format(float64(info.Size()), "bytes"))
			}
			return errors.Join(exit.NoMeasure(err), b.damaged(problems))
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "the `file` to write")
	_ = cmd.MarkFlagFilename("out", "tar")
	return cmd
}

// exported returns the runs that words stand for or, if there are no words, all runs and
// the problems with those that are damaged.
func (b *command) exported(ctx context.Context, store *folder.Dir, names []string) (ids []string, problems []baseline.Problem, err error) {
	runs, problems, err := store.List(ctx, baseline.Query{})
	if err != nil {
		return nil, nil, exit.NoMeasure(err)
	}
	if len(names) == 0 {
		for _, m := range runs {
			ids = append(ids, m.ID)
		}
		if len(ids) == 0 {
			return nil, nil, errors.Join(b.damaged(problems), exit.Usage(errors.New("no run to export")))
		}
		return ids, problems, nil
	}
	for _, name := range names {
		meta, err := b.find(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		ids = append(ids, meta.ID)
	}
	return ids, nil, nil
}

// isWithin reports whether a folder is another one or lies in it, whatever their names.
func isWithin(dir, other string) bool {
	outer, err := os.Stat(other)
	if err != nil {
		return false
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return false
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return false
	}
	for {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, outer) {
			return true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return false
		}
		dir = above
	}
}
