package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/org/ebpf-bench-action/internal/github"
)

// checkout is the git repository around the working directory. What is in it
// comes from a pull request, so git is kept from running anything of it, and
// takes no argument that is not of a known form.
type checkout struct {
	// top is the folder of the working tree, prefix the working directory in it.
	top, prefix string
	// config are settings, as NAME=VALUE, that come before those of the
	// repository; login those with the token, for fetching alone. So they are no
	// arguments.
	config, login []string
	// problem is told what went wrong and was made up for. It may be nil.
	problem func(error)
}

func (c *checkout) warn(err error) {
	if c.problem != nil {
		c.problem(err)
	}
}

var commitForm = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// hardened are settings that keep git from running what a repository names, and
// from taking a folder of the working tree for a repository of its own: a pull
// request can bring one, with settings that name what to run.
var hardened = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.ext.allow=never", "safe.bareRepository=explicit",
	"gc.auto=0", "maintenance.auto=false", "submodule.recurse=false", "advice.detachedHead=false",
}

// errNoCheckout says that the working directory is in no git repository.
var errNoCheckout = errors.New("this is no git checkout")

// openCheckout is the repository around the working directory. On a runner it
// may belong to another user than that of a container.
func openCheckout(ctx context.Context, onRunner bool) (*checkout, error) {
	c := &checkout{}
	if onRunner {
		c.config = append(c.config, "safe.directory=*")
	}
	top, err := c.git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoCheckout, err)
	}
	prefix, err := c.git(ctx, "rev-parse", "--show-prefix")
	c.top, c.prefix = top, filepath.Clean("./"+prefix)
	return c, err
}

// git is what a command of git prints, which does not have the token.
func (c *checkout) git(ctx context.Context, args ...string) (string, error) {
	return c.gitWith(ctx, c.config, args...)
}

func (c *checkout) gitWith(ctx context.Context, config []string, args ...string) (string, error) {
	var all []string
	for _, setting := range hardened {
		all = append(all, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Env = append(github.WithoutSecrets(os.Environ()), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_LFS_SKIP_SMUDGE=1", "LC_ALL=C")
	cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(config)))
	for i, setting := range config {
		name, value, _ := strings.Cut(setting, "=")
		cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, name), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	return gitOutput(cmd, args[0])
}
