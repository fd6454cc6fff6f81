package branch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/github"
)

const (
	// maxPushes is how often a change is retried on top of other writers' commits. Each
	// conflict means that another writer succeeded, so 16 writers need 16.
	maxPushes = 64
	// maxRefusals is how often the same change may be refused although nobody else changed
	// the branch.
	maxRefusals = 4
	// maxPause is about the longest wait before a retry.
	maxPause = 8 * time.Second
)

// ErrRefused says that GitHub rejects the commit, although nobody else changed the branch:
// a rule may protect it.
var ErrRefused = errors.New("GitHub refuses the commit")

// change runs do on a clone with the files of the branch that match patterns, and pushes
// what it changed, with the message that it returns. If another writer was faster, it
// starts again.
func (b *Store) change(ctx context.Context, patterns []string, do func(*folder.Dir) (message string, err error)) error {
	last, refusals := "-", 0
	for try := range maxPushes {
		at, err := b.changeOnce(ctx, patterns, do)
		if !says(err, "! [") {
			return err
		}
		if refusals++; at != last {
			last, refusals = at, 1
		}
		if refusals == maxRefusals {
			return bench.WithHint(fmt.Errorf("%w: %s", ErrRefused, words(err)), "let the token write to the branch "+b.name+": a rule of the repository may protect it")
		}
		if err := github.Sleep(ctx, min(b.remote.Pause<<min(try, 10), maxPause)); err != nil {
			return err
		}
	}
	return fmt.Errorf("commit to branch %s: others were faster %d times", b.name, maxPushes)
}

// changeOnce makes a change on top of the commit that it returns.
func (b *Store) changeOnce(ctx context.Context, patterns []string, do func(*folder.Dir) (string, error)) (at string, err error) {
	c, err := b.clone(ctx, patterns)
	if err != nil {
		return "", err
	}
	defer c.remove()
	before, err := c.files()
	if err != nil {
		return "", err
	}
	message, err := do(c.dir)
	if err != nil {
		return "", c.located(err)
	}
	gone := slices.DeleteFunc(before, func(name string) bool {
		_, err := os.Lstat(filepath.Join(c.path, name))
		return err == nil
	})
	commit, err := c.record(ctx, message, gone)
	if err != nil || commit == "" {
		return "", err
	}
	err = c.retried(ctx, "push", "--quiet", "--no-thin", "origin", commit+":"+b.ref())
	if status := status(err); github.IsRefusal(status) {
		err = github.ReadOnly("commit to the baseline's branch", status, words(err))
	}
	return c.commit, err
}

// files returns the paths of the runs' folders and files that are checked out.
func (c *clone) files() (all []string, err error) {
	err = fs.WalkDir(os.DirFS(c.path), c.branch.path("runs"), func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	return all, err
}

// record makes a commit with the files that are checked out in place of the branch's, and
// without those that are gone. It returns none if that changes nothing.
func (c *clone) record(ctx context.Context, message string, gone []string) (string, error) {
	// From here on, no file is one that is not to be checked out.
	if err := c.inform("sparse-checkout", "/*\n"); err != nil {
		return "", err
	}
	own := filepath.Join(c.path, c.branch.path(attributesFile))
	if _, err := os.Lstat(own); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(own, []byte("* -text -diff\n"), 0o644); err != nil {
			return "", err
		}
	}
	parent := []string{}
	steps := [][]string{{"add", "--ignore-removal", "--force", "--", c.branch.path("runs"), c.branch.path(attributesFile)}}
	if c.commit != "" {
		parent = []string{"-p", c.commit}
		steps = slices.Insert(steps, 0, []string{"read-tree", c.commit})
	}
	if len(gone) > 0 {
		if err := c.inform("gone", strings.Join(gone, "\x00")); err != nil {
			return "", err
		}
		steps = append(steps, []string{"rm", "-r", "--cached", "--quiet", "--ignore-unmatch", "--pathspec-from-file=.git/info/gone", "--pathspec-file-nul"})
	}
	for _, args := range steps {
		if _, err := c.git(ctx, args...); err != nil {
			return "", err
		}
	}
	tree, err := c.git(ctx, "write-tree", "--missing-ok")
	if err != nil {
		return "", err
	}
	if c.commit != "" {
		if old, err := c.git(ctx, "rev-parse", c.commit+"^{tree}"); err != nil || old == tree {
			return "", err
		}
	}
	return c.git(ctx, append([]string{"commit-tree", tree, "-m", message + "\n\n[skip ci]"}, parent...)...)
}
