package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/github"
)

// head is the commit that is checked out, with the parents that it names: a
// shallow clone has it and lacks them.
func (c *checkout) head(ctx context.Context) (sha string, parents []string, err error) {
	if sha, err = c.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return "", nil, err
	}
	text, err := c.git(ctx, "cat-file", "commit", sha)
	if err != nil {
		return "", nil, err
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			break
		}
		if parent, ok := strings.CutPrefix(line, "parent "); ok && commitForm.MatchString(parent) {
			parents = append(parents, parent)
		}
	}
	return sha, parents, nil
}

func (c *checkout) has(ctx context.Context, sha string) bool {
	_, err := c.git(ctx, "cat-file", "-e", sha+"^{commit}")
	return err == nil
}

func (c *checkout) shallow(ctx context.Context) bool {
	is, err := c.git(ctx, "rev-parse", "--is-shallow-repository")
	return err != nil || is == "true"
}

// withToken lets git fetch as the job may, also where the checkout kept no
// credentials. The header goes to GitHub's own server alone, in place of one that
// the checkout kept: two would be refused.
func (c *checkout) withToken(on *github.Context, token string) {
	for _, value := range github.GitHeaders(token) {
		c.login = append(c.login, "http."+on.ServerURL+"/.extraheader="+value)
	}
}

// fetch gets commits from where the checkout came from, without the history
// where that is not here either.
func (c *checkout) fetch(ctx context.Context, on *github.Context, depth string, shas ...string) error {
	remote := "origin"
	if _, err := c.git(ctx, "remote", "get-url", remote); err != nil {
		if on == nil {
			return errors.New("the checkout has no remote")
		}
		remote = on.ServerURL + "/" + on.Owner + "/" + on.Repo
	}
	args := []string{"fetch", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--quiet"}
	if depth != "" {
		args = append(args, depth)
	}
	for _, sha := range shas {
		if !commitForm.MatchString(sha) {
			return fmt.Errorf("%.80q is no commit", sha)
		}
	}
	_, err := c.gitWith(ctx, slices.Concat(c.config, c.login), append(append(args, remote), shas...)...)
	return bench.WithHint(err, "The checkout must come from the repository that the pull request is for, and keep its remote: actions/checkout does both.")
}

// need gets a commit that is not here.
func (c *checkout) need(ctx context.Context, on *github.Context, sha string) error {
	if c.has(ctx, sha) {
		return nil
	}
	depth := ""
	if c.shallow(ctx) {
		depth = "--depth=1"
	}
	return c.fetch(ctx, on, depth, sha)
}

// mergeBase is the last commit that what is checked out has in common with the
// branch that it is to be merged into. History is fetched only where nothing
// else tells.
func (c *checkout) mergeBase(ctx context.Context, on *github.Context, api *github.API) (string, error) {
	head, parents, err := c.head(ctx)
	if err != nil {
		return "", err
	}
	if len(parents) == 2 && parents[1] == on.HeadSHA {
		// GitHub merged the head into the tip of the base branch.
		return parents[0], nil
	}
	if on.BaseSHA == "" {
		return "", errors.New("GitHub does not say what the pull request is to be merged into")
	}
	if on.Event == "merge_group" {
		return on.BaseSHA, nil
	}
	if !c.shallow(ctx) && c.has(ctx, on.BaseSHA) {
		return c.commonCommit(ctx, on.BaseSHA, head)
	}
	if api != nil {
		base, err := api.MergeBase(ctx, on.BaseSHA, head)
		if err == nil || ctx.Err() != nil {
			return base, err
		}
		c.warn(fmt.Errorf("GitHub does not tell the merge base, so the history is fetched: %w", err))
	}
	depth := ""
	if c.shallow(ctx) {
		depth = "--unshallow"
	}
	if err := c.fetch(ctx, on, depth, on.BaseSHA, head); err != nil {
		return "", err
	}
	return c.commonCommit(ctx, on.BaseSHA, head)
}

func (c *checkout) commonCommit(ctx context.Context, a, b string) (string, error) {
	base, err := c.git(ctx, "merge-base", a, b)
	if err == nil && !commitForm.MatchString(base) {
		err = errors.New("git merge-base: no commit")
	}
	if err != nil {
		return "", fmt.Errorf("find the merge base of %.12s and %.12s: %w", a, b, err)
	}
	return base, nil
}

// layOut makes a worktree of a commit.
func (c *checkout) layOut(ctx context.Context, sha, dir string) error {
	if !commitForm.MatchString(sha) {
		return fmt.Errorf("%.80q is no commit", sha)
	}
	if _, err := os.Lstat(dir); err == nil {
		if err := c.removeWorktree(ctx, dir); err != nil {
			return err
		}
	}
	if _, err := c.git(ctx, "worktree", "prune"); err != nil {
		return err
	}
	_, err := c.git(ctx, "worktree", "add", "--quiet", "--detach", "--force", dir, sha)
	return err
}

func (c *checkout) removeWorktree(ctx context.Context, dir string) error {
	_, err := c.git(ctx, "worktree", "remove", "--force", "--force", dir)
	return err
}

// ancestors are a commit and those before it, as far as they are here.
func (c *checkout) ancestors(ctx context.Context, sha string) ([]string, error) {
	out, err := c.git(ctx, "rev-list", "--max-count=1000", sha, "--")
	return strings.Fields(out), err
}

// files are the files that git knows, by their paths from the top.
func (c *checkout) files(ctx context.Context) ([]string, error) {
	out, err := c.git(ctx, "ls-files", "-z", "--full-name", ":/")
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}
