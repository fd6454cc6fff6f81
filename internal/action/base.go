package action

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/github"
)

// openCheckout opens the repository around the working directory, for git without the
// token.
func openCheckout(ctx context.Context, onRunner bool) (*git.Checkout, error) {
	return git.Open(ctx, github.WithoutSecrets(os.Environ()), onRunner)
}

// mergeBase returns the last commit that the checkout shares with the branch it will be
// merged into. It fetches history only as a last resort; if GitHub should have known the
// commit, warning says why it did not answer.
func mergeBase(ctx context.Context, c *git.Checkout, on *github.Context, api *github.API) (base string, warning, err error) {
	head, parents, err := c.Head(ctx)
	if err != nil {
		return "", nil, err
	}
	if len(parents) == 2 && parents[1] == on.HeadSHA {
		// GitHub merged the head into the tip of the base branch.
		return parents[0], nil, nil
	}
	if on.BaseSHA == "" {
		return "", nil, errors.New("GitHub does not say what the pull request is to be merged into")
	}
	if on.Event == "merge_group" {
		return on.BaseSHA, nil, nil
	}
	if !c.Shallow(ctx) && c.Has(ctx, on.BaseSHA) {
		base, err := c.CommonCommit(ctx, on.BaseSHA, head)
		return base, nil, err
	}
	if api != nil {
		base, err := api.MergeBase(ctx, on.BaseSHA, head)
		if err == nil || ctx.Err() != nil {
			return base, nil, err
		}
		warning = fmt.Errorf("GitHub does not tell the merge base, so the history is fetched: %w", err)
	}
	depth := ""
	if c.Shallow(ctx) {
		depth = "--unshallow"
	}
	if err := c.Fetch(ctx, depth, on.BaseSHA, head); err != nil {
		return "", warning, err
	}
	base, err = c.CommonCommit(ctx, on.BaseSHA, head)
	return base, warning, err
}
