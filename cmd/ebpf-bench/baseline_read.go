package main

// The commands that read the baseline and leave it as it is.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/report"
)

func (b *baselineCommand) list() *cobra.Command {
	var asJSON bool
	var q baseline.Query
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the runs, the newest first",
		Example: "  ebpf-bench baseline list --branch main --limit 10",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			runs, problems, err := b.open().List(cmd.Context(), q)
			if err != nil {
				return usage(err)
			}
			if asJSON {
				err = json.NewEncoder(b.t.stdout).Encode(append([]baseline.Meta{}, runs...))
			} else {
				err = printRuns(b.t.stdout, runs)
			}
			return errors.Join(err, b.damaged(problems))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&q.Branch, "branch", "", "only runs of this `branch`")
	flags.StringVar(&q.Commit, "commit", "", "only runs of this `commit`, or one that begins so")
	flags.StringVar(&q.Tag, "tag", "", "only runs with this `tag`")
	flags.IntVar(&q.Limit, "limit", 0, "only this many, the newest")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printRuns(out io.Writer, runs []baseline.Meta) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "run\tbranch\tcommit\ttime\tobjects\ttags\ttestbed")
	for _, m := range runs {
		fmt.Fprintf(w, "%s\t%s\t%.12s\t%s\t%d\t%s\t%s\n", m.ID, dash(m.Branch), dash(m.Commit),
			m.Time.Local().Format("2006-01-02 15:04"), len(m.Digests), dash(strings.Join(m.Tags, ", ")), clean(m.Machine))
	}
	return w.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return clean(s)
}

func (b *baselineCommand) show() *cobra.Command {
	format := formatFlag("text")
	cmd := &cobra.Command{
		Use:               "show RUN",
		Short:             "Print the results of a run",
		Example:           "  ebpf-bench baseline show main\n  ebpf-bench baseline show latest --format json > latest.json",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: b.complete,
		RunE: b.onRun(func(ctx context.Context, meta baseline.Meta, _ []string) error {
			entry, err := b.open().Load(ctx, meta.ID)
			if err != nil {
				return noMeasure(err)
			}
			m := report.NewModel(entry.Run)
			m.Color = b.t.colored(b.t.stdout)
			return format.render()(b.t.stdout, m)
		}),
	}
	cmd.Flags().Var(&format, "format", "what to print: text, json or bmf")
	return cmd
}

func (b *baselineCommand) verify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check every file of the baseline",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store := b.open()
			problems, err := store.Verify(cmd.Context())
			if err != nil {
				return usage(err)
			}
			if err := b.damaged(problems); err != nil {
				return err
			}
			runs, _, err := store.List(cmd.Context(), baseline.Query{})
			if err != nil {
				return noMeasure(err)
			}
			fmt.Fprintf(b.t.stdout, "%s, all whole\n", plural(len(runs), "run"))
			return nil
		},
	}
}

func (b *baselineCommand) export() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "export --out FILE [RUN...]",
		Short:   "Write runs with their objects to one file",
		Example: "  ebpf-bench baseline export --out main.tar.zst main\n  ebpf-bench baseline export --out all.tar.zst",
		Args:    usageArgs(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usageError(cmd, errors.New("--out is missing: it names the file to write"))
			}
			ids, err := b.ids(cmd.Context(), args)
			if err != nil {
				return err
			}
			file, err := newOutFile(out, nil)
			if err != nil {
				return usage(err)
			}
			return noMeasure(file.write(func(w io.Writer) error { return b.open().Export(cmd.Context(), w, ids...) }))
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "the `file` to write")
	_ = cmd.MarkFlagFilename("out", "tar.zst")
	return cmd
}

// ids are the runs that words stand for, all runs where there is none.
func (b *baselineCommand) ids(ctx context.Context, names []string) ([]string, error) {
	var ids []string
	for _, name := range names {
		meta, err := b.find(ctx, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, meta.ID)
	}
	if len(names) > 0 {
		return ids, nil
	}
	runs, _, err := b.open().List(ctx, baseline.Query{})
	for _, m := range runs {
		ids = append(ids, m.ID)
	}
	return ids, usage(err)
}
