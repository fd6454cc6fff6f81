package action

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"unicode/utf8"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/github"
)

// planner is the step that plans.
type planner struct {
	planned
	// api is nil in a local run, and where there is no token.
	api      *github.API
	checkout *git.Checkout
}

// run decides what to compare the head with, and lays it out for the steps that have no
// token. It reads commits and stored runs, and runs nothing from them.
func (p *planner) run(ctx context.Context) error {
	if p.in.results != "" {
		return exit.Usage(errors.New("input results: results from other jobs are only reported, so there is nothing to plan"))
	}
	if err := p.mayMeasure(); err != nil {
		return err
	}
	if err := p.state.clear(); err != nil {
		return exit.NoMeasure(err)
	}
	if p.in.mode != "host" {
		if err := fleet.CanEmulate(runtime.GOARCH); err != nil {
			return exit.Usage(fmt.Errorf("input mode: %w", err))
		}
	}
	p.plan = &plan{}
	decide := p.decide
	if p.on == nil {
		decide = p.decideLocally
	}
	if err := decide(ctx); err != nil {
		return exit.NoMeasure(err)
	}
	if p.Note != "" {
		p.tell("%s", p.Note)
	}
	return exit.NoMeasure(p.writePlan())
}

// decide plans a run on GitHub: against the commit where the pull request left the branch
// that it will be merged into.
func (p *planner) decide(ctx context.Context) (err error) {
	p.HeadSide = bench.Side{Name: p.headName(), Commit: p.on.HeadSHA, Branch: p.on.HeadRef}
	if p.api, err = p.openAPI(); err != nil {
		p.warn("%v: a local run, nothing is reported to GitHub", err)
	}
	switch {
	case p.on.OnDefaultBranch():
		p.Save = p.in.saves()
		p.Note = "no base: this is a push to " + p.on.DefaultBranch
		return nil
	case p.on.BaseRef == "":
		p.Note = "no base: a run on " + p.on.Event + " belongs to no pull request"
		return nil
	}
	if p.checkout, err = openCheckout(ctx, true); err != nil {
		return bench.WithHint(err, "check the pull request out before, by actions/checkout")
	}
	p.checkout.Fetching = func(remote string) { p.tell("fetching commits from %s", remote) }
	p.checkout.Remote = p.on.ServerURL + "/" + p.on.Owner + "/" + p.on.Repo
	p.checkout.Login(p.on.ServerURL, github.GitHeaders(p.token()))
	t, err := takeTree(ctx, p.checkout, p.on)
	if err != nil {
		return err
	}
	base, warning, err := t.base(ctx, p.checkout, p.on, p.api)
	if warning != nil {
		p.warn("%v", warning)
	}
	if err != nil {
		return err
	}
	if base == t.commit && !p.rehearsed {
		return bench.WithHint(fmt.Errorf("%.12s is checked out, a commit of %s, and not %s", base, p.on.BaseRef, p.HeadSide.Name),
			"actions/checkout checks the pull request out if it has no ref")
	}
	p.HeadSide.Merged, p.HeadSide.Note = t.merged, t.note
	return p.against(ctx, bench.Side{Name: p.on.BaseRef, Commit: base, Branch: p.on.BaseRef})
}

// headName returns the name of the head in reports.
func (p *planner) headName() string {
	if p.on.PullRequest > 0 {
		return fmt.Sprintf("pull request %d", p.on.PullRequest)
	}
	return p.on.HeadRef
}

// decideLocally plans a run without GitHub: against the commit where the current branch
// left the main one if git knows it.
func (p *planner) decideLocally(ctx context.Context) (err error) {
	p.HeadSide = bench.Side{Name: "working tree"}
	p.tell("%v: a local run", p.local)
	lacks := func(why string) error {
		p.Lack, p.Note = lacksCommit, "no base: "+why
		return nil
	}
	if p.checkout, err = openCheckout(ctx, false); err != nil {
		return lacks(err.Error())
	}
	if p.HeadSide.Commit, _, err = p.checkout.Head(ctx); err != nil {
		return lacks("the checkout has no commit")
	}
	base, err := localBase(ctx, p.checkout, p.HeadSide.Commit)
	if err != nil {
		return lacks("git knows no main branch that this one is to be merged into (git remote set-head origin --auto tells it)")
	}
	return p.against(ctx, bench.Side{Name: "merge base", Commit: base})
}

// against plans to compare the head with a base, built or from the baseline.
func (p *planner) against(ctx context.Context, base bench.Side) error {
	p.Commit, p.BaseSide = base.Commit, base
	if p.in.build != "" {
		return p.layOut(ctx)
	}
	return p.load(ctx)
}

// layOut checks the base out, so that it can be built.
func (p *planner) layOut(ctx context.Context) error {
	if err := p.checkout.Need(ctx, p.Commit); err != nil {
		return fmt.Errorf("get the base %.12s: %w", p.Commit, err)
	}
	lacks, err := p.checkout.LayOut(ctx, p.Commit, p.baseTop())
	if err != nil {
		return fmt.Errorf("lay out the base: %w", err)
	}
	if lacks != nil {
		p.Lacking = fmt.Sprintf("the base is not complete: %v", lacks)
		p.warn("%s", p.Lacking)
	}
	if !utf8.ValidString(p.checkout.Top) {
		return fmt.Errorf("the path of the checkout is not UTF-8: %q", p.checkout.Top)
	}
	if p.Changed, err = p.checkout.Changed(ctx, p.Commit); err != nil {
		return fmt.Errorf("find what differs from the base: %w", err)
	}
	p.Base, p.Prefix, p.Top = baseBuilt, p.checkout.Prefix, p.checkout.Top
	p.Note = fmt.Sprintf("the base is built from %.12s, the merge base", p.Commit)
	return nil
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
