package github

import (
	"context"
	"strings"

	gh "github.com/google/go-github/v53/github"
)

// Marked is the mark of a check run on a pull request.
type Marked struct {
	PullRequest int
	Mark        string
}

// maxEarlier is how many pull requests are searched for check runs.
const maxEarlier = 20

// EarlierMarks returns the marks of the check runs with a name on other pull requests into
// the same branch, at most limit: first those that were updated last. Pull requests without
// a marked one are left out. The error is ErrReadOnly if the token may not read them.
func (a *API) EarlierMarks(ctx context.Context, c *Context, name string, limit int) ([]Marked, error) {
	pulls, _, err := a.Client.PullRequests.List(ctx, a.Owner, a.Repo, &gh.PullRequestListOptions{
		State: "all", Base: c.BaseRef, Sort: "updated", Direction: "desc", ListOptions: gh.ListOptions{PerPage: maxEarlier},
	})
	if err != nil {
		return nil, ErrorOf("list the pull requests", err)
	}
	var found []Marked
	for _, p := range pulls {
		head := p.GetHead()
		if len(found) == limit {
			break
		}
		if p.GetNumber() == c.PullRequest || head.GetRef() == c.HeadRef && strings.EqualFold(head.GetRepo().GetFullName(), c.HeadRepo) || !IsSHA(head.GetSHA()) {
			continue
		}
		runs, _, err := a.Client.Checks.ListCheckRunsForRef(ctx, a.Owner, a.Repo, head.GetSHA(), &gh.ListCheckRunsOptions{CheckName: &name})
		if err != nil {
			return nil, ErrorOf("list the check runs", err)
		}
		for _, run := range runs.CheckRuns {
			if mark := run.GetExternalID(); mark != "" {
				found = append(found, Marked{p.GetNumber(), mark})
				break
			}
		}
	}
	return found, nil
}
