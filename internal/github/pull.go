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
// could write. If the event names none, into is the branch whose commit was measured as the
// base, or empty: a head may have a pull request into each of several branches. The error
// is ErrStale if the head has changed or the pull request is into another branch,
// ErrNoPullRequest if there is none, ErrSeveral if several may be meant, and ErrReadOnly if
// the token may not read it.
func (a *API) PullRequest(ctx context.Context, c *Context, into string) (int, error) {
	if c.PullRequest > 0 {
		p, _, err := a.Client.PullRequests.Get(ctx, a.Owner, a.Repo, c.PullRequest)
		if err != nil {
			return 0, ErrorOf("find the pull request", err)
		}
		return c.PullRequest, c.matches(p)
	}
	return a.pullOfHead(ctx, c, into)
}

// matches returns ErrStale unless a pull request still has the head of the run.
func (c *Context) matches(p *gh.PullRequest) error {
	if p.GetHead().GetSHA() != c.HeadSHA {
		return fmt.Errorf("pull request %d: %w: its head is %.12s, not %.12s", p.GetNumber(), ErrStale, p.GetHead().GetSHA(), c.HeadSHA)
	}
	return nil
}

// pullOfHead looks for the open pull request from the run's branch.
func (a *API) pullOfHead(ctx context.Context, c *Context, into string) (int, error) {
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
	var found []*gh.PullRequest
	none := ErrNoPullRequest
	for _, p := range pulls {
		// GitHub ignores a filter whose form it does not like.
		head := p.GetHead()
		if head.GetRef() != c.HeadRef || !strings.EqualFold(head.GetRepo().GetFullName(), c.HeadRepo) {
			continue
		}
		err := c.matches(p)
		if base := p.GetBase().GetRef(); err == nil && into != "" && base != into {
			err = fmt.Errorf("pull request %d: %w: it is into %.80q, and the base that was measured is of %.80q", p.GetNumber(), ErrStale, base, into)
		}
		if err != nil {
			none = err
			continue
		}
		found = append(found, p)
	}
	switch len(found) {
	case 0:
		return 0, none
	case 1:
		return found[0].GetNumber(), nil
	}
	var which []string
	for _, p := range found {
		which = append(which, fmt.Sprintf("%d into %.80s", p.GetNumber(), p.GetBase().GetRef()))
	}
	return 0, fmt.Errorf("%w: %s, and the results do not say which base was measured", ErrSeveral, strings.Join(which, ", "))
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
