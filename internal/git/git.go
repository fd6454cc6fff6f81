// Package git queries the git repository around the working directory, and keeps git from
// running anything that the repository brings.
package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Output returns the output of a git command, empty if it fails or there is no git.
func Output(ctx context.Context, args ...string) string {
	out, _ := output(exec.CommandContext(ctx, "git", args...), args[0])
	return out
}

// output returns the output of a git command, or an error in git's own words. With its
// context, all of its processes end: one that waits for a server would not end by itself.
func output(cmd *exec.Cmd, command string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return "", failure(command, stderr.String(), err)
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

var inURL = regexp.MustCompile(`//[^/@\s]*@`)

// Error is a failure of git.
type Error struct {
	Command string
	// Lines are what git wrote to its standard error, without any password in a URL.
	Lines []string
	err   error
}

func failure(command, output string, err error) *Error {
	lines := strings.FieldsFunc(inURL.ReplaceAllString(output, "//"), func(r rune) bool { return r == '\n' || r == '\r' })
	return &Error{command, lines, err}
}

func (e *Error) Error() string {
	if len(e.Lines) == 0 {
		return fmt.Sprintf("git %s: %v", e.Command, e.err)
	}
	// What comes after the reason is advice, or what failed by it.
	for _, line := range e.Lines {
		if reason, ok := strings.CutPrefix(line, "error: RPC failed; "); ok { // the rest follows from it
			return fmt.Sprintf("git %s: %s", e.Command, reason)
		}
	}
	for _, line := range e.Lines {
		if reason, ok := strings.CutPrefix(line, "fatal: "); ok {
			return fmt.Sprintf("git %s: %s", e.Command, reason)
		}
	}
	return fmt.Sprintf("git %s: %s", e.Command, e.Lines[len(e.Lines)-1])
}

// Unwrap returns why git failed.
func (e *Error) Unwrap() error { return e.err }

// Branch returns the branch that is checked out, empty if there is none.
func Branch(ctx context.Context) string { return Output(ctx, "branch", "--show-current") }

// IsBranch reports whether git has a branch of that name, here or from the remote.
func IsBranch(ctx context.Context, name string) bool {
	return Output(ctx, "show-ref", "--verify", "refs/heads/"+name) != "" || Output(ctx, "show-ref", "--verify", "refs/remotes/origin/"+name) != ""
}

// Commit returns the commit that a revision stands for.
func Commit(ctx context.Context, rev string) (string, error) {
	if strings.HasPrefix(rev, "-") {
		return "", errors.New("it looks like a flag")
	}
	commit := Output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if commit != "" {
		return commit, nil
	}
	if err := Usable(ctx); err != nil {
		return "", err
	}
	return "", errors.New("git does not know it")
}

// The reasons why there is nothing to ask git for.
var (
	ErrNoGit        = errors.New("git is not installed")
	ErrNoRepository = errors.New("this folder is in no git repository")
)

// Usable returns nil if git answers about the repository of the working directory. The
// error is ErrNoGit or ErrNoRepository, or has git's own words, such as about a repository
// that belongs to somebody else.
func Usable(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "git", "rev-parse", "--git-dir")
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	_, err := output(cmd, "rev-parse")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return ErrNoGit
	case err != nil && strings.Contains(err.Error(), "not a git repository"):
		return ErrNoRepository
	}
	return err
}

// InRepository reports whether the working directory is in a working tree.
func InRepository(ctx context.Context) bool {
	return Output(ctx, "rev-parse", "--is-inside-work-tree") == "true"
}

// DefaultBranch returns the branch that others are merged into: the remote's, or else the
// usual one that exists.
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
