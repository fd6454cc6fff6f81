package main

import (
	"cmp"
	"context"
	"os/exec"
	"strings"
)

// git is what a git command prints, empty where it fails or there is no git.
func git(ctx context.Context, args ...string) string {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// gitBranch is the branch that is checked out, empty where none is.
func gitBranch(ctx context.Context) string { return git(ctx, "branch", "--show-current") }

// isGitBranch tells whether git has a branch of that name, here or from the remote.
func isGitBranch(ctx context.Context, name string) bool {
	return git(ctx, "show-ref", "--verify", "refs/heads/"+name) != "" || git(ctx, "show-ref", "--verify", "refs/remotes/origin/"+name) != ""
}

func isRepository(ctx context.Context) bool {
	return git(ctx, "rev-parse", "--is-inside-work-tree") == "true"
}

// defaultBranch is the branch that others are merged into: that of the remote, or
// else the one that is usual and there.
func defaultBranch(ctx context.Context) string {
	remote := git(ctx, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
	if name := strings.TrimPrefix(remote, "origin/"); name != "" {
		return name
	}
	names := strings.Fields(git(ctx, "for-each-ref", "--format=%(refname:lstrip=-1)",
		"refs/heads/main", "refs/remotes/origin/main", "refs/heads/master", "refs/remotes/origin/master"))
	for _, name := range names {
		if name == "main" {
			return name
		}
	}
	return cmp.Or(strings.Join(names[:min(1, len(names))], ""), "main")
}
