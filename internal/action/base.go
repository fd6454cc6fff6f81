package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/github"
)

// openCheckout opens the repository around the working directory, for git without the
// token.
func openCheckout(ctx context.Context, onRunner bool) (*git.Checkout, error) {
	return git.Open(ctx, github.WithoutSecrets(os.Environ()), onRunner)
}

// tree is what a checkout has of a pull request.
type tree struct {
	commit  string
	parents []string
	// merged says that it is GitHub's merge of the head into the tip of the base branch.
	merged bool
	// note says what it is if it is neither that nor the head.
	note string
}

// takeTree returns what is checked out.
func takeTree(ctx context.Context, c *git.Checkout, on *github.Context) (*tree, error) {
	t := &tree{}
	var err error
	if t.commit, t.parents, err = c.Head(ctx); err != nil {
		return nil, err
	}
	t.merged = len(t.parents) == 2 && t.parents[1] == on.HeadSHA
	switch {
	case t.commit == on.HeadSHA, t.merged:
	case slices.Contains(t.parents, on.HeadSHA), c.IsAncestor(ctx, on.HeadSHA, t.commit):
		t.note = fmt.Sprintf("in the checkout of %.12s", t.commit)
	default:
		t.note = fmt.Sprintf("not known to be in the checkout, which is of %.12s", t.commit)
	}
	return t, nil
}

// base returns the last commit that the tree shares with the branch it will be merged into.
// It fetches history only as a last resort; if GitHub should have known the commit, warning
// says why it did not answer.
func (t *tree) base(ctx context.Context, c *git.Checkout, on *github.Context, api *github.API) (base string, warning, err error) {
	head := t.commit
	if t.merged {
		return t.parents[0], nil, nil
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
	if err := c.Fetch(ctx, depth, on.BaseSHA); err != nil {
		return "", warning, err
	}
	base, err = c.CommonCommit(ctx, on.BaseSHA, head)
	return base, warning, err
}
