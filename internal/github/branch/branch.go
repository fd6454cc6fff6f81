// Package branch keeps a baseline on a branch of a repository on GitHub.
package branch

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
)

// Store is a baseline.Store on a branch of its own, which shares no commit with the
// others. Its files are those of a folder.Dir, so a checkout of the branch is one. Every
// method makes a clone with just the files that it needs, lets a folder.Dir do the work
// there, and pushes the changes. The files of two runs never overlap, so a writer that
// comes second makes the same change again on top of the first.
type Store struct {
	remote Remote
	// name is the name of the branch, folder the folder in it that has the files.
	name, folder string
	// scratch is where temporary clones are made.
	scratch string
}

// Remote is the repository that the branch is in.
type Remote struct {
	URL string
	// Env is the environment of git, and Settings are settings for it, as NAME=VALUE, such as
	// the one with the token.
	Env, Settings []string
	// Pause is about how long the first wait before a retry takes.
	Pause time.Duration
}

var (
	_ baseline.Store = (*Store)(nil)

	nameForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$`)
)

// Open returns the store on the branch of that name, in a folder of it or at its root
// if folder is empty. It works in temporary folders in scratch, or in the system's if
// that is empty.
func Open(r Remote, name, folder, scratch string) (*Store, error) {
	if !nameForm.MatchString(name) || len(name) > 200 || strings.Contains(name, "..") || strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".") {
		return nil, fmt.Errorf("%.80q is not a name for the baseline's branch", name)
	}
	if folder != "" && (!nameForm.MatchString(folder) || !fs.ValidPath(folder) || len(folder) > 200) {
		return nil, fmt.Errorf("%.80q is not a name for a folder of the baseline's branch", folder)
	}
	return &Store{remote: r, name: name, folder: folder, scratch: scratch}, nil
}

// Patterns of the files of all runs that say what the runs are, and of their values.
var (
	listed = []string{"runs/*/meta.json", "runs/*/tag.*"}
	points = "runs/*/points.json.zst"
)

// Save implements baseline.Store.
func (b *Store) Save(ctx context.Context, e *baseline.Entry) (m baseline.Meta, err error) {
	err = b.change(ctx, nil, func(dir *folder.Dir) (message string, err error) {
		m, err = dir.Save(ctx, e)
		return strings.TrimSuffix("Save run "+m.ID+" of "+m.Commit, " of "), err
	})
	if err != nil {
		return baseline.Meta{}, fmt.Errorf("save run: %w", err)
	}
	return m, nil
}

// List implements baseline.Store.
func (b *Store) List(ctx context.Context, q baseline.Query) (runs []baseline.Meta, problems []baseline.Problem, err error) {
	err = b.look(ctx, listed, func(c *clone) error {
		runs, problems, err = c.dir.List(ctx, q)
		problems = c.problems(problems)
		return err
	})
	return runs, problems, err
}

// Load implements baseline.Store.
func (b *Store) Load(ctx context.Context, id string) (e *baseline.Entry, err error) {
	err = b.look(ctx, []string{"runs/" + id}, func(c *clone) error {
		e, err = c.dir.Load(ctx, id)
		return err
	})
	return e, err
}

// History implements baseline.Store.
func (b *Store) History(ctx context.Context, q baseline.Query, wanted ...baseline.Series) (h *baseline.History, err error) {
	err = b.look(ctx, append(listed, points), func(c *clone) error {
		if h, err = c.dir.History(ctx, q, wanted...); err == nil {
			h.Problems = c.problems(h.Problems)
		}
		return err
	})
	return h, err
}

// Tag implements baseline.Store.
func (b *Store) Tag(ctx context.Context, id, tag string) error {
	return b.change(ctx, listed, func(dir *folder.Dir) (string, error) {
		return "Tag run " + id, dir.Tag(ctx, id, tag)
	})
}

// Untag implements baseline.Store.
func (b *Store) Untag(ctx context.Context, id, tag string) error {
	return b.change(ctx, listed, func(dir *folder.Dir) (string, error) {
		return "Untag run " + id, dir.Untag(ctx, id, tag)
	})
}

// Prune implements baseline.Store. Pruned runs remain in the history of the branch.
func (b *Store) Prune(ctx context.Context, keep int) (p baseline.Pruned, err error) {
	err = b.change(ctx, listed, func(dir *folder.Dir) (string, error) {
		p, err = dir.Prune(ctx, keep)
		return "Prune the baseline", err
	})
	return p, err
}

// Verify implements baseline.Store.
func (b *Store) Verify(ctx context.Context) (problems []baseline.Problem, err error) {
	err = b.look(ctx, []string{"runs"}, func(c *clone) error {
		problems, err = c.dir.Verify(ctx)
		problems = c.problems(problems)
		return err
	})
	return problems, err
}

// path returns the path on the branch of a file of the store, or ref the branch.
func (b *Store) path(name string) string { return path.Join(b.folder, name) }

func (b *Store) ref() string { return "refs/heads/" + b.name }

// look runs do on a clone with the files of the branch that match patterns.
func (b *Store) look(ctx context.Context, patterns []string, do func(*clone) error) error {
	c, err := b.clone(ctx, patterns)
	if err != nil {
		return err
	}
	defer c.remove()
	return c.located(do(c))
}
