package branch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/github"
)

// clone is a temporary clone of the branch at one commit, without its history, and with
// only some of its files.
type clone struct {
	branch *Store
	path   string
	// commit is empty if the branch does not exist yet.
	commit string
	dir    *folder.Dir
	// env is the environment of git, and http are the user's settings for servers.
	env, http []string
}

const (
	attributesFile = ".gitattributes"
	// attributes keep git from changing any byte.
	attributes = "* -text -diff -filter -ident -working-tree-encoding\n"
)

// settings make a clone fetch only the contents that it checks out.
var settings = []string{
	"remote.origin.promisor=true", "remote.origin.partialclonefilter=blob:none",
	"core.sparseCheckout=true", "core.sparseCheckoutCone=false", "core.symlinks=false", "credential.helper=",
	"user.name=github-actions[bot]", "user.email=41898282+github-actions[bot]@users.noreply.github.com",
}

// clone clones the branch, and checks out the files that match patterns.
func (b *Store) clone(ctx context.Context, patterns []string) (*clone, error) {
	dir, err := os.MkdirTemp(b.scratch, "ebpf-bench-branch-")
	if err != nil {
		return nil, fmt.Errorf("make a folder to work in: %w", err)
	}
	c := &clone{branch: b, path: dir, dir: folder.Open(filepath.Join(dir, b.folder)), env: alone(b.remote.Env, filepath.Join(dir, ".git"))}
	err = c.fetch(ctx, patterns)
	if errors.Is(err, exec.ErrNotFound) {
		err = bench.WithHint(err, "a baseline on a branch takes git, in the container of the job too")
	}
	if err != nil {
		c.remove()
		return nil, fmt.Errorf("read branch %s: %w", b.name, err)
	}
	return c, nil
}

func (c *clone) remove() { _ = os.RemoveAll(c.path) }

func (c *clone) fetch(ctx context.Context, patterns []string) error {
	if _, err := c.git(ctx, "init", "--quiet", "--template=", "--object-format=sha1"); err != nil {
		return err
	}
	c.http = c.userHTTP(ctx)
	err := c.retried(ctx, "fetch", "--quiet", "--depth=1", "--filter=blob:none", "--no-tags", "origin", c.branch.ref())
	switch {
	case err == nil:
		err = c.checkOut(ctx, patterns)
	case says(err, "find remote ref"):
		err = nil
	case github.IsRefusal(status(err)):
		err = bench.WithHint(err, "the job needs permissions: {contents: read}")
	}
	// A folder.Dir takes a folder without this one for something else.
	return cmp.Or(err, os.MkdirAll(filepath.Join(c.path, c.branch.folder, "runs"), 0o755))
}

// checkOut checks out the files that match patterns of the commit that was fetched. Git
// fetches their contents together.
func (c *clone) checkOut(ctx context.Context, patterns []string) (err error) {
	if c.commit, err = c.git(ctx, "rev-parse", "FETCH_HEAD"); err != nil {
		return err
	}
	if err := c.checkTree(ctx); err != nil {
		return err
	}
	paths := append([]string{attributesFile}, patterns...)
	for i, path := range paths {
		paths[i] = "/" + c.branch.path(path)
	}
	if err := c.inform("attributes", attributes); err != nil {
		return err
	}
	if err := c.inform("sparse-checkout", strings.Join(paths, "\n")); err != nil {
		return err
	}
	return c.retried(ctx, "read-tree", "-m", "-u", c.commit)
}

// checkTree refuses a branch with something else where the store's folders are, and makes
// the folder of each run, so that one that lacks its files is missed.
func (c *clone) checkTree(ctx context.Context) error {
	runs := c.branch.path("runs")
	for i, r := range runs + "/" {
		if r != '/' {
			continue
		}
		entry, err := c.git(ctx, "ls-tree", "--full-tree", c.commit, "--", runs[:i])
		if err != nil {
			return err
		}
		if entry != "" && !strings.HasPrefix(entry, "040000 ") {
			return bench.WithHint(fmt.Errorf("%s is no folder", runs[:i]), "remove it from the branch: the baseline has a folder of that name")
		}
	}
	text, err := c.git(ctx, "ls-tree", "--full-tree", "--name-only", c.commit, "--", runs+"/")
	if err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		id := path.Base(strings.TrimSuffix(line, "\n"))
		if baseline.CheckID(id) != nil {
			continue
		}
		if err := os.MkdirAll(filepath.Join(c.path, runs, id), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// alone returns an environment in which git reads no settings of the user: one of them may
// send a push to another repository. Its home has none.
func alone(environ []string, home string) []string {
	environ = slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		return strings.HasPrefix(entry, "GIT_CONFIG") || strings.HasPrefix(entry, "HOME=") || strings.HasPrefix(entry, "XDG_CONFIG_HOME=")
	})
	return append(environ, "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_LITERAL_PATHSPECS=1")
}

// userHTTP returns the user's settings for how to reach servers: proxies and certificates.
// What others log in with is not among them.
func (c *clone) userHTTP(ctx context.Context) (settings []string) {
	text, _ := git.In(c.path, c.branch.remote.Env).Git(ctx, "config", "--null", "--get-regexp", `^http\.`) // fails if there are none
	for entry := range strings.SplitSeq(text, "\x00") {
		name, value, ok := strings.Cut(entry, "\n")
		if ok && !strings.HasSuffix(strings.ToLower(name), ".extraheader") {
			settings = append(settings, name+"="+value)
		}
	}
	return settings
}

// inform writes a file that git reads below .git/info.
func (c *clone) inform(name, text string) error {
	dir := filepath.Join(c.path, ".git", "info")
	return cmp.Or(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

// git returns the output of a git command in the clone.
func (c *clone) git(ctx context.Context, args ...string) (string, error) {
	r := c.branch.remote
	all := slices.Concat(c.http, settings, []string{"remote.origin.url=" + r.URL}, r.Settings)
	return git.In(c.path, c.env, all...).Git(ctx, args...)
}

// retried runs a git command again, after a pause, if it failed on the way to GitHub.
func (c *clone) retried(ctx context.Context, args ...string) error {
	const tries = 5
	for try := 1; ; try++ {
		_, err := c.git(ctx, args...)
		if err == nil || try == tries || !passing(err) {
			return err
		}
		if err := github.Sleep(ctx, c.branch.remote.Pause<<(try-1)); err != nil {
			return err
		}
	}
}

// problems changes the file names in problems to those on the branch.
func (c *clone) problems(all []baseline.Problem) []baseline.Problem {
	for i := range all {
		all[i].File = c.named(all[i].File)
	}
	return all
}

// located changes the file name in an error to that on the branch.
func (c *clone) located(err error) error {
	if p, ok := errors.AsType[baseline.Problem](err); ok {
		p.File = c.named(p.File)
		return p
	}
	return err
}

func (c *clone) named(file string) string {
	if name, err := filepath.Rel(c.path, file); err == nil && filepath.IsLocal(name) {
		return c.branch.name + ":" + filepath.ToSlash(name)
	}
	return file
}
