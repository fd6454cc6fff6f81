package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/github/branch"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// store returns the baseline that the inputs name. It is nil if there is none or it cannot
// be asked; the error then says why in one line.
func (s *step) store(api *github.API) (baseline.Store, error) {
	if dir := s.in.baselineFolder(); dir != "" {
		return folder.Open(dir), nil
	}
	name := s.in.baselineBranch()
	if name == "" {
		return nil, errors.New("the input baseline is none")
	}
	if api == nil {
		return nil, errors.New("a baseline on a branch takes GitHub and a token")
	}
	remote := branch.Remote{
		URL: s.on.ServerURL + "/" + s.on.Owner + "/" + s.on.Repo + ".git",
		Env: github.WithoutSecrets(os.Environ()), Settings: git.Login(s.on.ServerURL, github.GitHeaders(s.token())), Pause: time.Second,
	}
	// Returning a nil *branch.Store directly would make a Store that is not nil.
	b, err := branch.Open(remote, name, s.in.branchFolder(), "")
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("input baseline: %w", err))
	}
	return b, nil
}

// load finds the run of the merge base, or of its nearest ancestor that has one, and
// copies it to where the steps without a token find it.
func (p *planner) load(ctx context.Context) error {
	store, err := p.store(p.api)
	if store == nil {
		p.Lack, p.Note = lacksBaseline, "no base: "+err.Error()
		return ignoreUnlessUsage(err)
	}
	found, err := p.nearest(ctx, store)
	switch {
	case errors.Is(err, baseline.ErrNotFound):
		p.Lack, p.Note = lacksRun, fmt.Sprintf("no base: the baseline (%s) has no run of %.12s, the merge base, or a commit before it", p.in.baseline, p.Commit)
		return nil
	case err != nil:
		return fmt.Errorf("find the base in the baseline (%s): %w", p.in.baseline, err)
	}
	e, err := store.Load(ctx, found.ID)
	if err != nil {
		return fmt.Errorf("load the base from the baseline: %w", err)
	}
	if len(e.Objects) == 0 {
		p.Lack, p.Note = lacksRun, fmt.Sprintf("no base: run %s of the baseline has no objects", found.ID)
		return nil
	}
	saved, err := folder.Open(p.state.path(storedFolder)).Save(ctx, e)
	if err != nil {
		return fmt.Errorf("keep the base: %w", err)
	}
	p.Base, p.Run = baseStored, saved.ID
	p.BaseSide.Commit = found.Commit
	p.Note = fmt.Sprintf("the base is stored run %s of %.12s, the merge base", found.ID, found.Commit)
	// A job that reports the results elsewhere has no plan, and each shard has its own
	// run.
	p.BaseSide.Note = "stored"
	if found.Distance > 0 {
		p.BaseSide.Note += fmt.Sprintf(" %s before the merge base", unit.Plural(found.Distance, "commit"))
		p.Note = fmt.Sprintf("the base is stored run %s of %.12s, %s before %.12s, the merge base, which has none",
			found.ID, found.Commit, unit.Plural(found.Distance, "commit"), p.Commit)
	}
	return nil
}

func ignoreUnlessUsage(err error) error {
	if exit.CodeOf(err) == exit.WrongUsage {
		return err
	}
	return nil
}

// nearest asks GitHub for the ancestors of the merge base, which a shallow clone does not
// know; without GitHub it asks git.
func (p *planner) nearest(ctx context.Context, store baseline.Store) (github.Found, error) {
	if p.api != nil {
		found, problems, err := p.api.FindBaseline(ctx, store, baseline.Query{}, p.Commit)
		p.warnOf(problems...)
		return found, err
	}
	runs, problems, err := store.List(ctx, baseline.Query{})
	p.warnOf(problems...)
	if err != nil {
		return github.Found{}, err
	}
	ancestors, err := p.checkout.Ancestors(ctx, p.Commit)
	if err != nil {
		return github.Found{}, err
	}
	found, ok := github.Nearest(runs, ancestors)
	if !ok {
		return found, baseline.ErrNotFound
	}
	return found, nil
}

// warnOf passes on the problems with files of a baseline.
func (s *step) warnOf(problems ...baseline.Problem) {
	for _, p := range problems {
		s.warn("%v", p)
	}
}

// warning returns a baseline whose problems become warnings.
func (s *step) warning(store baseline.Store) baseline.Store {
	return baseline.Warning(store, func(p baseline.Problem) { s.warnOf(p) })
}
