package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/unit"
)

const baselineLong = `Keep runs to compare later ones with: their numbers, and the objects that they
measured, which a comparison loads and measures again beside the new ones.

RUN is latest, or a run's ID, a tag or a branch, of which it is the newest run.`

// baselineCommand is what its subcommands share.
type baselineCommand struct {
	t     *terminal
	store storeFlag
}

func newBaselineCommand(t *terminal) *cobra.Command {
	b := &baselineCommand{t: t}
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Keep runs to compare later ones with",
		Long:  baselineLong,
		Args:  usageArgs(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	b.store.register(cmd)
	cmd.AddCommand(b.save(), b.list(), b.show(), b.tag(), b.prune(), b.verify(), b.rebuild(), b.export(), b.importing())
	return cmd
}

func (b *baselineCommand) open() *baseline.Dir { return baseline.Open(b.store.folder) }

// find is the run that a word stands for.
func (b *baselineCommand) find(ctx context.Context, name string) (baseline.Meta, error) {
	meta, err := (&sideOpener{b.open()}).find(ctx, name)
	if err != nil {
		return meta, usage(bench.WithHint(err, "ebpf-bench baseline list shows what there is"))
	}
	return meta, nil
}

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
		RunE: func(cmd *cobra.Command, args []string) error {
			meta, err := b.find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			entry, err := b.open().Load(cmd.Context(), meta.ID)
			if err != nil {
				return noMeasure(err)
			}
			m := report.NewModel(entry.Run)
			m.Color = b.t.colored(b.t.stdout)
			return format.render()(b.t.stdout, m)
		},
	}
	cmd.Flags().Var(&format, "format", "what to print: text, json or bmf")
	return cmd
}

func (b *baselineCommand) tag() *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:     "tag RUN TAG",
		Short:   "Mark a run, which prune then keeps",
		Example: "  ebpf-bench baseline tag latest v1.2",
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			meta, err := b.find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if remove {
				return usage(b.open().Untag(cmd.Context(), meta.ID, args[1]))
			}
			return usage(b.open().Tag(cmd.Context(), meta.ID, args[1]))
		},
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

// damaged says what is wrong with a store. What a killed process left behind
// is no damage.
func (b *baselineCommand) damaged(problems []baseline.Problem) error {
	var errs []error
	for _, p := range problems {
		if p.Leftover {
			b.t.say("", "%v", p)
			continue
		}
		errs = append(errs, bench.WithHint(p, bench.Hint(p)))
	}
	return noMeasure(errors.Join(errs...))
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
			var ids []string
			for _, name := range args {
				meta, err := b.find(cmd.Context(), name)
				if err != nil {
					return err
				}
				ids = append(ids, meta.ID)
			}
			if len(ids) == 0 {
				runs, _, err := b.open().List(cmd.Context(), baseline.Query{})
				if err != nil {
					return usage(err)
				}
				for _, m := range runs {
					ids = append(ids, m.ID)
				}
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

// complete completes the names of runs.
func (b *baselineCommand) complete(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	names := []string{"latest"}
	runs, _, err := b.open().List(cmd.Context(), baseline.Query{Limit: 50})
	if err == nil {
		for _, m := range runs {
			names = append(append(names, m.ID, m.Branch), m.Tags...)
		}
	}
	return unique(names), cobra.ShellCompDirectiveNoFileComp
}

// saved says what was kept.
func (t *terminal) saved(m baseline.Meta, took time.Duration) {
	where := ""
	if m.Branch != "" {
		where += " on " + m.Branch
	}
	if m.Commit != "" {
		where += fmt.Sprintf(" (%.12s)", m.Commit)
	}
	t.say("", "saved run %s%s in the baseline in %s", m.ID, where, unit.NS(float64(took.Nanoseconds())))
}
