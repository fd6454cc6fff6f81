package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/input"
	"github.com/org/ebpf-bench-action/internal/keep"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// origin is where the objects of a run come from.
type origin struct{ keep.Origin }

func (o *origin) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var((*branchValue)(&o.Branch), "branch", "the `branch` that the objects come from (default: git's)")
	flags.StringVar(&o.Commit, "commit", "", "the `commit` that they come from (default: git's)")
	flags.Var((*tagsValue)(&o.Tags), "tag", "mark the run with this `tag`; may be repeated")
}

// reserved refuses the name that always stands for the newest run.
func reserved(what, name string) error {
	if name == "latest" {
		return fmt.Errorf("no %s can be called latest: that is the newest run of all", what)
	}
	return nil
}

// branchValue is the value of --branch, tagsValue that of --tag.
type (
	branchValue string
	tagsValue   []string
)

func (b *branchValue) String() string { return string(*b) }
func (b *branchValue) Type() string   { return "string" }

func (b *branchValue) Set(name string) error {
	*b = branchValue(name)
	return reserved("branch", name)
}

func (v *tagsValue) String() string { return strings.Join(*v, ",") }
func (v *tagsValue) Type() string   { return "strings" }

func (v *tagsValue) Set(list string) error {
	for name := range strings.SplitSeq(list, ",") {
		if err := reserved("tag", name); err != nil {
			return err
		}
		*v = append(*v, name)
	}
	return nil
}

// complete asks git for what the user does not say.
func (o *origin) complete(ctx context.Context, t *ui.Terminal) {
	if o.Branch == "" {
		o.Branch = git.Branch(ctx)
		if err := reserved("branch", o.Branch); err != nil {
			t.Warn("git's branch is not kept: %v", err)
			o.Branch = ""
		}
	}
	if o.Commit == "" {
		o.Commit = git.Output(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
		if o.Commit != "" && git.Output(ctx, "status", "--porcelain", "--untracked-files=no") != "" {
			t.Warn("the working tree has changes that commit %.12s does not have", o.Commit)
		}
	}
}

// checkTags refuses tags that a branch is called by, of the run or in the baseline,
// and says so where a tag is called like the branch.
func (o *origin) checkTags(ctx context.Context, t *ui.Terminal, store *storeFlag) error {
	for _, tag := range o.Tags {
		if tag == o.Branch {
			return fmt.Errorf("no tag can be called %s: that is the run's branch", tag)
		}
		if err := store.shadows(ctx, tag); err != nil {
			return err
		}
	}
	if o.Branch == "" {
		return nil
	}
	tagged, _, err := store.open().List(ctx, baseline.Query{Tag: o.Branch, Limit: 1})
	if len(tagged) > 0 {
		t.Warn("the baseline has a tag %s: baseline:%s is run %s, and not the newest of the branch", o.Branch, o.Branch, tagged[0].ID)
	}
	return err
}

func (b *baselineCommand) save() *cobra.Command {
	var from origin
	var suiteFile string
	cmd := &cobra.Command{
		Use:     "save RESULT",
		Short:   "Keep the results of a run, with its objects",
		Long:    "Keep the results of a run (ebpf-bench run --out), with the objects that it\nmeasured, so that a later comparison can measure them again. A run that failed,\neven in part, is not kept. ebpf-bench run --save does both in one step.",
		Example: "  sudo ebpf-bench run --out result.json\n  ebpf-bench baseline save result.json",
		Args:    cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := readRunFile(cmd.Context(), args[0])
			if err != nil {
				return refused(err)
			}
			s := &suite.Suite{}
			if suiteFile != "" || !allIngested(runs) {
				if s, err = suite.Open(suiteFile); err != nil {
					return exit.Usage(err)
				}
			}
			from.complete(cmd.Context(), b.t)
			if err := from.checkTags(cmd.Context(), b.t, &b.store); err != nil {
				return refused(err)
			}
			entries, err := keep.Entries(s, runs, from.Origin)
			if err != nil {
				return exit.Usage(err)
			}
			return saveEntries(cmd.Context(), b.t, b.open(), entries)
		},
	}
	from.register(cmd)
	suiteFlag(cmd, &suiteFile, "the suite `file` of the run (default: ebpf-bench.yml)")
	return cmd
}

// allIngested tells whether another tool measured everything: there is no suite then,
// and no objects.
func allIngested(runs []*bench.Run) bool {
	return !slices.ContainsFunc(runs, func(run *bench.Run) bool {
		return slices.ContainsFunc(run.Results, func(r bench.Result) bool { return !r.Ingested() })
	})
}

func readRunFile(ctx context.Context, name string) ([]*bench.Run, error) {
	file, err := input.Open(ctx, name)
	if err != nil {
		return nil, exit.Usage(err)
	}
	defer file.Close()
	runs, err := bench.DecodeAll(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return runs, nil
}

// saveEntries keeps runs, and says how each is filed.
func saveEntries(ctx context.Context, t *ui.Terminal, store baseline.Store, entries []*baseline.Entry) error {
	var errs []error
	for _, e := range entries {
		began := time.Now()
		if e.Time.After(began) {
			// It would be the newest run for as long as the clock was ahead.
			t.Warn("the run started on %s by the clock of its machine, which is yet to come: it is kept as of now",
				e.Time.Local().Format("2006-01-02 15:04"))
			e.Time = began
		}
		meta, err := store.Save(ctx, e)
		if err != nil {
			errs = append(errs, fmt.Errorf("save to the baseline: %w", err))
			continue
		}
		saySaved(t, meta, time.Since(began))
	}
	return exit.NoMeasure(errors.Join(errs...))
}

// saySaved says what was kept.
func saySaved(t *ui.Terminal, m baseline.Meta, took time.Duration) {
	where := ""
	if m.Branch != "" {
		where += " on " + m.Branch
	}
	if m.Commit != "" {
		where += fmt.Sprintf(" (%.12s)", m.Commit)
	}
	t.Say("saved run %s%s in the baseline in %s", m.ID, where, unit.NS(float64(took.Nanoseconds())))
}
