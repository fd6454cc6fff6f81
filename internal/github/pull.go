package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v53/github"
)

// PullRequest returns the number of the run's pull request, if GitHub says that its head
// is still the one that was measured: it never uses a number from a file that a stranger
// could write. The error is ErrStale if the head has changed, ErrNoPullRequest if there is
// no pull request, and ErrReadOnly if the token may not read it.
func (a *API) PullRequest(ctx context.Context, c *Context) (int, error) {
	if c.PullRequest > 0 {
		p, _, err := a.Client.PullRequests.Get(ctx, a.Owner, a.Repo, c.PullRequest)
		if err != nil {
			return 0, ErrorOf("find the pull request", err)
		}
		return c.PullRequest, c.matches(p)
	}
	return a.pullOfHead(ctx, c)
}

// matches returns ErrStale unless a pull request still has the head of the run.
func (c *Context) matches(p *gh.PullRequest) error {
	if p.GetHead().GetSHA() != c.HeadSHA {
		return fmt.Errorf("pull request %d: %w: its head is %.12s, not %.12s", p.GetNumber(), ErrStale, p.GetHead().GetSHA(), c.HeadSHA)
	}
	return nil
}

// pullOfHead looks for the open pull request from the run's branch.
func (a *API) pullOfHead(ctx context.Context, c *Context) (int, error) {
	owner, _, _ := strings.Cut(c.HeadRepo, "/")
	if owner == "" || c.HeadRef == "" {
		return 0, ErrNoPullRequest
	}
	pulls, _, err := a.Client.PullRequests.List(ctx, a.Owner, a.Repo, &gh.PullRequestListOptions{
		State: "open", Head: owner + ":" + c.HeadRef, ListOptions: gh.ListOptions{PerPage: 100},
	})
	if err != nil {
		return 0, ErrorOf("find the pull request", err)
	}
	result := ErrNoPullRequest
	for _, p := range pulls {
		// GitHub ignores a filter whose form it does not like.
		head := p.GetHead()
		if head.GetRef() != c.HeadRef || !strings.EqualFold(head.GetRepo().GetFullName(), c.HeadRepo) {
			continue
		}
		if result = c.matches(p); result == nil {
			return p.GetNumber(), nil
		}
	}
	return 0, result
}

// DefaultBranch returns the repository's default branch, for events that do not name it.
func (a *API) DefaultBranch(ctx context.Context) (string, error) {
	r, _, err := a.Client.Repositories.Get(ctx, a.Owner, a.Repo)
	if err != nil {
		return "", fmt.Errorf("find the default branch: %w", err)
	}
	return r.GetDefaultBranch(), nil
}

// ErrNoMergeBase says that two commits have no common ancestor, or that the repository
// does not know them.
var ErrNoMergeBase = errors.New("no merge base")

// MergeBase returns the last common ancestor of base and head.
func (a *API) MergeBase(ctx context.Context, base, head string) (string, error) {
	c, _, err := a.Client.Repositories.CompareCommits(ctx, a.Owner, a.Repo, base, head, &gh.ListOptions{PerPage: 1})
	if Status(err) == http.StatusNotFound {
		return "", fmt.Errorf("find the merge base of %.80q and %.80q: %w", base, head, ErrNoMergeBase)
	}
	if err != nil {
		return "", fmt.Errorf("find the merge base: %w", err)
	}
	sha := c.GetMergeBaseCommit().GetSHA()
	if !IsSHA(sha) {
		return "", fmt.Errorf("find the merge base of %.80q and %.80q: %w", base, head, ErrNoMergeBase)
	}
	return sha, nil
}
