package action

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"unicode/utf8"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/github"
)

// plan decides what to compare the head with, and lays it out for the steps that have no
// token. It reads commits and stored runs, and runs nothing from them.
func (s *step) plan(ctx context.Context) error {
	if s.in.results != "" {
		return exit.Usage(errors.New("input results: results from other jobs are only reported, so there is nothing to plan"))
	}
	if err := s.mayMeasure(); err != nil {
		return err
	}
	if err := s.state.clear(); err != nil {
		return exit.NoMeasure(err)
	}
	if s.in.mode != "host" {
		if err := fleet.CanEmulate(runtime.GOARCH); err != nil {
			return exit.Usage(fmt.Errorf("input mode: %w", err))
		}
	}
	p, err := s.decide(ctx)
	if err != nil {
		return exit.NoMeasure(err)
	}
	if p.Note != "" {
		s.tell("%s", p.Note)
	}
	return exit.NoMeasure(s.state.write(planFile, p))
}

func (s *step) decide(ctx context.Context) (*plan, error) {
	if s.on == nil {
		return s.decideLocally(ctx)
	}
	p := &plan{HeadSide: bench.Side{Name: s.headName(), Commit: s.on.HeadSHA, Branch: s.on.HeadRef}}
	api, err := s.api()
	if err != nil {
		s.warn("%v: a local run, nothing is reported to GitHub", err)
	}
	switch {
	case s.on.OnDefaultBranch():
		p.Save = s.in.saves()
		p.Note = "no base: this is a push to " + s.on.DefaultBranch
		return p, nil
	case s.on.BaseRef == "":
		p.Note = "no base: a run on " + s.on.Event + " belongs to no pull request"
		return p, nil
	}
	checkout, err := openCheckout(ctx, true)
	if err != nil {
		return nil, bench.WithHint(err, "check the pull request out before, by actions/checkout")
	}
	checkout.Fetching = func(remote string) { s.tell("fetching commits from %s", remote) }
	checkout.Remote = s.on.ServerURL + "/" + s.on.Owner + "/" + s.on.Repo
	checkout.Login(s.on.ServerURL, github.GitHeaders(s.token()))
	t, err := takeTree(ctx, checkout, s.on)
	if err != nil {
		return nil, err
	}
	base, warning, err := t.base(ctx, checkout, s.on, api)
	if warning != nil {
		s.warn("%v", warning)
	}
	if err != nil {
		return nil, err
	}
	if base == t.commit && !s.rehearsed {
		return nil, bench.WithHint(fmt.Errorf("%.12s is checked out, a commit of %s, and not %s", base, s.on.BaseRef, p.HeadSide.Name),
			"actions/checkout checks the pull request out if it has no ref")
	}
	p.BaseSide = bench.Side{Name: s.on.BaseRef, Commit: base, Branch: s.on.BaseRef}
	p.HeadSide.Merged, p.HeadSide.Note = t.merged, t.note
	p.Commit = base
	if s.in.build != "" {
		return p, s.planBuilt(ctx, p, checkout, base)
	}
	return p, s.planStored(ctx, p, checkout, api)
}

// headName returns the name of the head in reports.
func (s *step) headName() string {
	if s.on.PullRequest > 0 {
		return fmt.Sprintf("pull request %d", s.on.PullRequest)
	}
	return s.on.HeadRef
}

// planBuilt checks the base out, so that it can be built.
func (s *step) planBuilt(ctx context.Context, p *plan, checkout *git.Checkout, base string) error {
	if err := checkout.Need(ctx, base); err != nil {
		return fmt.Errorf("get the base %.12s: %w", base, err)
	}
	lacks, err := checkout.LayOut(ctx, base, s.state.path(baseFolder))
	if err != nil {
		return fmt.Errorf("lay out the base: %w", err)
	}
	if lacks != nil {
		p.Lacking = fmt.Sprintf("the base is not complete: %v", lacks)
		s.warn("%s", p.Lacking)
	}
	if !utf8.ValidString(checkout.Top) {
		return fmt.Errorf("the path of the checkout is not UTF-8: %q", checkout.Top)
	}
	if p.Changed, err = checkout.Changed(ctx, base); err != nil {
		return fmt.Errorf("find what differs from the base: %w", err)
	}
	p.Base, p.Prefix, p.Top = baseBuilt, checkout.Prefix, checkout.Top
	p.Note = fmt.Sprintf("the base is built from %.12s, the merge base", base)
	return nil
}

// decideLocally plans a run without GitHub: against the commit where the current branch
// left the main one if git knows it, built or from the baseline.
func (s *step) decideLocally(ctx context.Context) (*plan, error) {
	p := &plan{HeadSide: bench.Side{Name: "working tree"}}
	s.tell("%v: a local run", s.local)
	checkout, err := openCheckout(ctx, false)
	if err != nil {
		p.Lack, p.Note = lacksCommit, "no base: "+err.Error()
		return p, nil
	}
	if p.HeadSide.Commit, _, err = checkout.Head(ctx); err != nil {
		p.Lack, p.Note = lacksCommit, "no base: the checkout has no commit"
		return p, nil
	}
	base, err := localBase(ctx, checkout, p.HeadSide.Commit)
	if err != nil {
		p.Lack, p.Note = lacksCommit, "no base: git knows no main branch that this one is to be merged into (git remote set-head origin --auto tells it)"
		return p, nil
	}
	p.Commit, p.BaseSide = base, bench.Side{Name: "merge base", Commit: base}
	if s.in.build != "" {
		return p, s.planBuilt(ctx, p, checkout, base)
	}
	return p, s.planStored(ctx, p, checkout, nil)
}

// localBase returns the merge base with the default branch: the remote's, or else a branch
// with one of the usual names.
func localBase(ctx context.Context, c *git.Checkout, head string) (string, error) {
	var upstream string
	var err error
	for _, ref := range []string{"remotes/origin/HEAD", "remotes/origin/main", "remotes/origin/master", "heads/main", "heads/master"} {
		if upstream, err = c.Git(ctx, "rev-parse", "--verify", "--quiet", "refs/"+ref+"^{commit}"); err == nil {
			break
		}
	}
	if err != nil {
		return "", err
	}
	return c.CommonCommit(ctx, upstream, head)
}

// baseDir returns the working directory in the checkout of the base.
func (s *step) baseDir(p *plan) string {
	return filepath.Join(s.state.path(baseFolder), p.Prefix)
}
