package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v53/github"

	"github.com/org/ebpf-bench-action/internal/baseline"
)

// Found is the run that a head is compared with.
type Found struct {
	baseline.Meta
	// Distance is how many commits the run's commit comes before the wanted one, as GitHub
	// lists them: 0 is the commit itself.
	Distance int
}

// maxAncestors is how many commits nearest searches.
const maxAncestors = 1000

// FindBaseline returns the newest run of a commit, or else of its nearest ancestor that
// has one, among the runs that match a query. The error is baseline.ErrNotFound if there
// is none.
func (a *API) FindBaseline(ctx context.Context, s baseline.Store, q baseline.Query, commit string) (Found, []baseline.Problem, error) {
	runs, problems, err := s.List(ctx, q)
	if err != nil {
		return Found{}, nil, err
	}
	if f, ok := Nearest(runs, []string{commit}); ok {
		return f, problems, nil
	}
	if len(runs) == 0 {
		return Found{}, problems, notFound(commit)
	}
	f, err := a.nearest(ctx, runs, commit)
	return f, problems, err
}

// nearest asks GitHub for the ancestors of a commit until one has a run.
func (a *API) nearest(ctx context.Context, runs []baseline.Meta, commit string) (Found, error) {
	opts := &gh.CommitsListOptions{SHA: commit, ListOptions: gh.ListOptions{PerPage: 100, Page: 1}}
	seen := 0
	for seen < maxAncestors {
		page, resp, err := a.Client.Repositories.ListCommits(ctx, a.Owner, a.Repo, opts)
		if err != nil {
			return Found{}, fmt.Errorf("list the ancestors of %.12s: %w", commit, err)
		}
		ancestors := make([]string, len(page))
		for i, c := range page {
			ancestors[i] = c.GetSHA()
		}
		if f, ok := Nearest(runs, ancestors); ok {
			f.Distance += seen
			return f, nil
		}
		seen += len(page)
		if resp.NextPage <= opts.Page {
			break
		}
		opts.Page = resp.NextPage
	}
	return Found{}, notFound(commit)
}

func notFound(commit string) error {
	return fmt.Errorf("find a run of %.12s or an ancestor: %w", commit, baseline.ErrNotFound)
}

// Nearest returns the run of the first of these commits that has one. If that commit has
// several runs, it returns the first in runs.
func Nearest(runs []baseline.Meta, ancestors []string) (Found, bool) {
	first := make(map[string]baseline.Meta, len(runs))
	for _, m := range runs {
		if _, ok := first[m.Commit]; !ok {
			first[m.Commit] = m
		}
	}
	for i, sha := range ancestors {
		if m, ok := first[sha]; ok && sha != "" {
			return Found{m, i}, true
		}
	}
	return Found{}, false
}
