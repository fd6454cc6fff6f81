package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/keep"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// Origin is where the objects of a run come from.
type Origin struct{ keep.Origin }

// Register adds --branch, --commit and --tag to a command.
func (o *Origin) Register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var((*branchValue)(&o.Branch), "branch", "the `branch` that the objects come from (default: git's)")
	flags.Var((*commitValue)(&o.Commit), "commit", "the `commit` that they come from (default: git's)")
	flags.Var((*tagsValue)(&o.Tags), "tag", "mark the run with this `tag`; may be repeated")
}

// Reserved refuses the name that always stands for the newest run, and those of runs.
func Reserved(what, name string) error {
	switch {
	case name == "latest":
		return fmt.Errorf("no %s can be called latest: that is the newest run of all", what)
	case baseline.CheckID(name) == nil:
		return fmt.Errorf("no %s can be called %s: that is how runs are called", what, name)
	}
	return nil
}

// checkName refuses what no branch or tag can be called.
func checkName(what, name string) error {
	return cmp.Or(Reserved(what, name), baseline.CheckName(what, name))
}

// branchValue is the value of --branch, commitValue that of --commit, tagsValue that of
// --tag. An empty one comes from a variable that is not set.
type (
	branchValue string
	commitValue string
	tagsValue   []string
)

func (b *branchValue) String() string { return string(*b) }
func (b *branchValue) Type() string   { return "string" }

func (b *branchValue) Set(name string) error {
	*b = branchValue(name)
	return checkName("branch", name)
}

func (c *commitValue) String() string { return string(*c) }
func (c *commitValue) Type() string   { return "string" }

func (c *commitValue) Set(commit string) error {
	*c = commitValue(commit)
	return baseline.CheckCommit(commit)
}

func (v *tagsValue) String() string { return strings.Join(*v, ",") }
func (v *tagsValue) Type() string   { return "strings" }

func (v *tagsValue) Set(list string) error {
	for name := range strings.SplitSeq(list, ",") {
		if err := checkName("tag", name); err != nil {
			return err
		}
		*v = append(*v, name)
	}
	return nil
}

// Complete asks git for the values that the user did not give.
func (o *Origin) Complete(ctx context.Context, t *ui.Terminal) {
	if o.Branch != "" && o.Commit != "" {
		return
	}
	if err := git.Usable(ctx); err != nil {
		if !errors.Is(err, git.ErrNoGit) && !errors.Is(err, git.ErrNoRepository) {
			t.Warn("the branch and the commit are unknown: %v", err)
		}
		return
	}
	if o.Branch == "" {
		o.Branch = git.Branch(ctx)
		if err := checkName("branch", o.Branch); err != nil && o.Branch != "" {
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

// CheckTags refuses tags that are the name of a branch, of the run or in the baseline, and
// warns if the branch has the name of a tag.
func (o *Origin) CheckTags(ctx context.Context, t *ui.Terminal, store *Store) error {
	for _, tag := range o.Tags {
		if tag == o.Branch {
			return fmt.Errorf("no tag can be called %s: that is the run's branch", tag)
		}
		if err := store.Shadows(ctx, tag); err != nil {
			return err
		}
	}
	if o.Branch == "" {
		return nil
	}
	tagged, _, err := store.Open().List(ctx, baseline.Query{Tag: o.Branch, Limit: 1})
	if len(tagged) > 0 {
		t.Warn("the baseline has a tag %s: baseline:%s is run %s, and not the newest of the branch", o.Branch, o.Branch, tagged[0].ID)
	}
	return err
}
