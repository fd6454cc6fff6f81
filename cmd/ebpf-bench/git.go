package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// git is what a git command prints, empty where it fails or there is no git.
func git(ctx context.Context, args ...string) string {
	out, _ := gitOutput(exec.CommandContext(ctx, "git", args...), args[0])
	return out
}

// gitOutput is what a git command prints, or its error in git's own words.
func gitOutput(cmd *exec.Cmd, command string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", gitError(command, stderr.String(), err)
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

var inURL = regexp.MustCompile(`//[^/@\s]*@`)

// gitError is what git says of a failure, without what a URL may have of a
// password.
func gitError(command, said string, err error) error {
	lines := strings.FieldsFunc(inURL.ReplaceAllString(said, "//"), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return fmt.Errorf("git %s: %w", command, err)
	}
	return fmt.Errorf("git %s: %s", command, strings.TrimPrefix(lines[len(lines)-1], "fatal: "))
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
