// Package git asks git about the repository around the working directory, and keeps it
// from running anything that the repository brings.
package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// Output is what a git command prints, empty where it fails or there is no git.
func Output(ctx context.Context, args ...string) string {
	out, _ := output(exec.CommandContext(ctx, "git", args...), args[0])
	return out
}

// output is what a git command prints, or its error in git's own words.
func output(cmd *exec.Cmd, command string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", failure(command, stderr.String(), err)
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

var inURL = regexp.MustCompile(`//[^/@\s]*@`)

// failure is what git says of a failure, without what a URL may have of a
// password.
func failure(command, said string, err error) error {
	lines := strings.FieldsFunc(inURL.ReplaceAllString(said, "//"), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return fmt.Errorf("git %s: %w", command, err)
	}
	return fmt.Errorf("git %s: %s", command, strings.TrimPrefix(lines[len(lines)-1], "fatal: "))
}

// Branch is the branch that is checked out, empty where none is.
func Branch(ctx context.Context) string { return Output(ctx, "branch", "--show-current") }

// IsBranch reports whether git has a branch of that name, here or from the remote.
func IsBranch(ctx context.Context, name string) bool {
	return Output(ctx, "show-ref", "--verify", "refs/heads/"+name) != "" || Output(ctx, "show-ref", "--verify", "refs/remotes/origin/"+name) != ""
}

// Commit is the commit that git knows by a revision.
func Commit(ctx context.Context, rev string) (string, error) {
	if strings.HasPrefix(rev, "-") {
		return "", errors.New("it looks like a flag")
	}
	commit := Output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	switch {
	case commit != "":
	case Output(ctx, "rev-parse", "--git-dir") == "":
		if _, err := exec.LookPath("git"); err != nil {
			return "", errors.New("git is not installed")
		}
		return "", errors.New("this folder is in no git repository")
	default:
		return "", errors.New("git does not know it")
	}
	return commit, nil
}

// InRepository reports whether the working directory is in a working tree.
func InRepository(ctx context.Context) bool {
	return Output(ctx, "rev-parse", "--is-inside-work-tree") == "true"
}

// DefaultBranch is the branch that others are merged into: that of the remote, or
// else the one that is usual and there.
func DefaultBranch(ctx context.Context) string {
	remote := Output(ctx, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
	if name := strings.TrimPrefix(remote, "origin/"); name != "" {
		return name
	}
	names := strings.Fields(Output(ctx, "for-each-ref", "--format=%(refname:lstrip=-1)",
		"refs/heads/main", "refs/remotes/origin/main", "refs/heads/master", "refs/remotes/origin/master"))
	for _, name := range names {
		if name == "main" {
			return name
		}
	}
	return cmp.Or(strings.Join(names[:min(1, len(names))], ""), "main")
}
