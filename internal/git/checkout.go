package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Checkout is the git repository around the working directory. Its content comes from a
// pull request, so git must not run anything from it, and gets no argument without a known
// form.
type Checkout struct {
	// Top is the folder of the working tree, Prefix the working directory in it.
	Top, Prefix string
	// config are settings, as NAME=VALUE, that override those of the repository; login are
	// those with the token, only for fetching. They are passed in the environment, not as
	// arguments.
	config, login []string
	// env is the environment of git, and dir the folder it runs in, empty for the working
	// directory. That alone says which repository is meant.
	env []string
	dir string
	// Remote is where commits are fetched from if the repository has no origin.
	Remote string
	// Fetching, if set, is told before a fetch, which can take long, where it goes.
	Fetching func(remote string)
}

var commitForm = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// hardened are settings that keep git from running what a repository names, and from
// taking a folder of the working tree for a repository of its own: a pull request can
// bring one, with settings that name commands to run.
var hardened = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.ext.allow=never", "safe.bareRepository=explicit",
	"gc.auto=0", "maintenance.auto=false", "submodule.recurse=false", "advice.detachedHead=false",
	// A server that does not answer ends a fetch: after 60 s with fewer than 100 bytes in each.
	"http.lowSpeedLimit=100", "http.lowSpeedTime=60",
}

// ErrNoCheckout says that the working directory is in no git repository.
var ErrNoCheckout = errors.New("this is not a git checkout")

// Open opens the repository around the working directory, and runs git in the environment
// env. On a runner it may belong to another user than the container's.
func Open(ctx context.Context, env []string, onRunner bool) (*Checkout, error) {
	c := &Checkout{env: Unbound(env)}
	if onRunner {
		c.config = append(c.config, "safe.directory=*")
	}
	top, err := c.Git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCheckout, err)
	}
	prefix, err := c.Git(ctx, "rev-parse", "--show-prefix")
	c.Top, c.Prefix = top, filepath.Clean("./"+prefix)
	return c, err
}

// In returns the repository in the folder dir, which git works on in the environment env and
// with settings, as NAME=VALUE.
func In(dir string, env []string, settings ...string) *Checkout {
	return &Checkout{env: Unbound(env), dir: dir, config: settings}
}

// Git returns the output of a git command, which does not have the token of Login. Where git
// fails, the error is an Error.
func (c *Checkout) Git(ctx context.Context, args ...string) (string, error) {
	return c.gitWith(ctx, c.config, args...)
}

func (c *Checkout) gitWith(ctx context.Context, config []string, args ...string) (string, error) {
	var all []string
	for _, setting := range hardened {
		all = append(all, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Dir = c.dir
	cmd.Env = append(slices.Clone(c.env), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_LFS_SKIP_SMUDGE=1", "LC_ALL=C")
	cmd.Env = configured(cmd.Env, config)
	text, err := output(cmd, args[0])
	return text, cmp.Or(ctx.Err(), err)
}

// Head returns the commit that is checked out, with the parents that it names: a shallow
// clone has the commit and lacks them.
func (c *Checkout) Head(ctx context.Context) (sha string, parents []string, err error) {
	if sha, err = c.Git(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return "", nil, err
	}
	text, err := c.Git(ctx, "cat-file", "commit", sha)
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

// Has reports whether a commit is here.
func (c *Checkout) Has(ctx context.Context, sha string) bool {
	_, err := c.Git(ctx, "cat-file", "-e", sha+"^{commit}")
	return err == nil
}

// Shallow reports whether a part of the history is missing.
func (c *Checkout) Shallow(ctx context.Context) bool {
	is, err := c.Git(ctx, "rev-parse", "--is-shallow-repository")
	return err != nil || is == "true"
}

// Login makes git fetch from a server with headers, even if the checkout kept no
// credentials, as the settings of that name do.
func (c *Checkout) Login(server string, headers []string) { c.login = Login(server, headers) }

// Login returns settings that make git send headers. They go only to that server, and replace
// what a checkout kept: two would be refused.
func Login(server string, headers []string) (settings []string) {
	for _, value := range headers {
		settings = append(settings, "http."+server+"/.extraheader="+value)
	}
	return settings
}

// Fetch fetches commits from the checkout's remote. Use depth to leave out the history if
// the checkout has none.
func (c *Checkout) Fetch(ctx context.Context, depth string, shas ...string) error {
	remote := "origin"
	if _, err := c.Git(ctx, "remote", "get-url", remote); err != nil {
		if c.Remote == "" {
			return errors.New("the checkout has no remote")
		}
		remote = c.Remote
	}
	if c.Fetching != nil {
		c.Fetching(remote)
	}
	args := []string{"fetch", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--quiet"}
	if depth != "" {
		args = append(args, depth)
	}
	for _, sha := range shas {
		if !commitForm.MatchString(sha) {
			return fmt.Errorf("%.80q is not a commit", sha)
		}
	}
	_, err := c.gitWith(ctx, slices.Concat(c.config, c.login), append(append(args, remote), shas...)...)
	return bench.WithHint(err, "the checkout must come from the repository that the pull request is for, and keep its remote: actions/checkout does both")
}

// Need fetches a commit if it is not here.
func (c *Checkout) Need(ctx context.Context, sha string) error {
	if c.Has(ctx, sha) {
		return nil
	}
	depth := ""
	if c.Shallow(ctx) {
		depth = "--depth=1"
	}
	return c.Fetch(ctx, depth, sha)
}

// CommonCommit returns the last common ancestor of two commits.
func (c *Checkout) CommonCommit(ctx context.Context, a, b string) (string, error) {
	base, err := c.Git(ctx, "merge-base", a, b)
	if one := (*exec.ExitError)(nil); errors.As(err, &one) && one.ExitCode() == 1 || err == nil && !commitForm.MatchString(base) {
		err = errors.New("their histories have no commit in common")
	}
	if err != nil {
		return "", fmt.Errorf("find the merge base of %.12s and %.12s: %w", a, b, err)
	}
	return base, nil
}

// IsAncestor reports whether a commit comes before another, as far as is known here.
func (c *Checkout) IsAncestor(ctx context.Context, before, sha string) bool {
	_, err := c.Git(ctx, "merge-base", "--is-ancestor", before, sha)
	return err == nil
}

// Ancestors returns a commit and those before it, as far as they are here.
func (c *Checkout) Ancestors(ctx context.Context, sha string) ([]string, error) {
	out, err := c.Git(ctx, "rev-list", "--max-count=1000", sha, "--")
	return strings.Fields(out), err
}

// Changed returns the paths from the top that differ between a commit and the working tree:
// files, new ones too unless git ignores them, and submodules.
func (c *Checkout) Changed(ctx context.Context, sha string) (paths []string, err error) {
	for _, args := range [][]string{
		{"diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", sha, "--"},
		{"ls-files", "-z", "--others", "--exclude-standard", "--full-name", ":/"},
	} {
		// A partial clone may fetch the folders of the commit only now.
		out, err := c.gitWith(ctx, slices.Concat(c.config, c.login), args...)
		if err != nil {
			return nil, err
		}
		paths = append(paths, strings.FieldsFunc(out, func(r rune) bool { return r == 0 })...)
	}
	return paths, nil
}

// Files returns the files that git knows, by their paths from the top.
func (c *Checkout) Files(ctx context.Context) ([]string, error) {
	out, err := c.Git(ctx, "ls-files", "-z", "--full-name", ":/")
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}
