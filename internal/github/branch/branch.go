// Package branch keeps a baseline on a branch of a repository on GitHub.
package branch

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/github"
)

// Store is a baseline.Store on a branch of its own, which shares no commit with the
// others. Its files are those of a folder.Dir, so a checkout of the branch is one. Every
// method makes a folder with just the files that it needs, lets a folder.Dir do the work
// there, and commits the changes. The files of two runs never overlap, so a writer that
// comes second commits the same change again on top of the first.
type Store struct {
	api *github.API
	// name is the name of the branch, folder the folder in it that has the files.
	name, folder string
	// scratch is where temporary folders are made.
	scratch string
	small   *smallFiles
}

var (
	_ baseline.Store = (*Store)(nil)

	nameForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$`)
)

// Open returns the store on the branch of that name, in a folder of it or at its root
// if folder is empty. It works in temporary folders in scratch, or in the system's if
// that is empty.
func Open(a *github.API, name, folder, scratch string) (*Store, error) {
	if !nameForm.MatchString(name) || len(name) > 200 || strings.Contains(name, "..") || strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".") {
		return nil, fmt.Errorf("%.80q is not a name for the baseline's branch", name)
	}
	if folder != "" && (!nameForm.MatchString(folder) || !fs.ValidPath(folder) || len(folder) > 200) {
		return nil, fmt.Errorf("%.80q is not a name for a folder of the baseline's branch", folder)
	}
	return &Store{api: a, name: name, folder: folder, scratch: scratch, small: newSmallFiles()}, nil
}

// Save implements baseline.Store.
func (b *Store) Save(ctx context.Context, e *baseline.Entry) (baseline.Meta, error) {
	m, err := b.rehearse(ctx, e)
	if err != nil {
		return baseline.Meta{}, err
	}
	message := "Save run " + m.ID
	if m.Commit != "" {
		message += " of " + m.Commit
	}
	err = b.change(ctx, message, func(w *workdir) error {
		if err := w.fetch(ctx, ofRun(m.ID)); err != nil {
			return err
		}
		m, err = w.dir.Save(ctx, e)
		return err
	})
	if err != nil {
		return baseline.Meta{}, fmt.Errorf("save run: %w", err)
	}
	return m, nil
}

// rehearse saves a run to an empty folder, which yields its ID, or the reason why it
// cannot be saved anywhere.
func (b *Store) rehearse(ctx context.Context, e *baseline.Entry) (baseline.Meta, error) {
	w, err := b.workdir(&snapshot{})
	if err != nil {
		return baseline.Meta{}, err
	}
	defer w.remove()
	return w.dir.Save(ctx, e)
}

// List implements baseline.Store.
func (b *Store) List(ctx context.Context, q baseline.Query) (runs []baseline.Meta, problems []baseline.Problem, err error) {
	err = b.look(ctx, func(w *workdir) error {
		if err := w.fetch(ctx, listed); err != nil {
			return err
		}
		runs, problems, err = w.dir.List(ctx, q)
		problems = w.problems(problems)
		return err
	})
	return runs, problems, err
}

// Load implements baseline.Store.
func (b *Store) Load(ctx context.Context, id string) (e *baseline.Entry, err error) {
	err = b.look(ctx, func(w *workdir) error {
		if err := w.fetch(ctx, ofRun(id)); err != nil {
			return err
		}
		e, err = w.dir.Load(ctx, id)
		return err
	})
	return e, err
}

// History implements baseline.Store.
func (b *Store) History(ctx context.Context, q baseline.Query, wanted ...baseline.Series) (h *baseline.History, err error) {
	err = b.look(ctx, func(w *workdir) error {
		if err := w.fetch(ctx, listed); err != nil {
			return err
		}
		runs, _, err := w.dir.List(ctx, q)
		if err != nil {
			return err
		}
		ids := make(map[string]bool)
		for _, m := range runs {
			ids["runs/"+m.ID+"/points.json.zst"] = true
		}
		if err := w.fetch(ctx, func(path string) bool { return ids[path] }); err != nil {
			return err
		}
		h, err = w.dir.History(ctx, q, wanted...)
		if err == nil {
			h.Problems = w.problems(h.Problems)
		}
		return err
	})
	return h, err
}

// Tag implements baseline.Store.
func (b *Store) Tag(ctx context.Context, id, tag string) error {
	return b.change(ctx, "Tag run "+id, func(w *workdir) error {
		return w.withTags(ctx, id, func() error { return w.dir.Tag(ctx, id, tag) })
	})
}

// Untag implements baseline.Store.
func (b *Store) Untag(ctx context.Context, id, tag string) error {
	return b.change(ctx, "Untag run "+id, func(w *workdir) error {
		return w.withTags(ctx, id, func() error { return w.dir.Untag(ctx, id, tag) })
	})
}

// Prune implements baseline.Store. Pruned runs remain in the history of the branch.
func (b *Store) Prune(ctx context.Context, keep int) (p baseline.Pruned, err error) {
	err = b.change(ctx, "Prune the baseline", func(w *workdir) error {
		if err := w.fetch(ctx, listed); err != nil {
			return err
		}
		// Of the other files, only their existence matters.
		if err := w.mention(func(string) bool { return true }); err != nil {
			return err
		}
		p, err = w.dir.Prune(ctx, keep)
		p.Problems = w.problems(p.Problems)
		return err
	})
	return p, err
}

// Verify implements baseline.Store.
func (b *Store) Verify(ctx context.Context) (problems []baseline.Problem, err error) {
	err = b.look(ctx, func(w *workdir) error {
		if err := w.fetch(ctx, func(string) bool { return true }); err != nil {
			return err
		}
		problems, err = w.dir.Verify(ctx)
		problems = w.problems(problems)
		return err
	})
	return problems, err
}

// listed reports whether a file is needed to list runs.
func listed(path string) bool {
	return strings.HasSuffix(path, "/meta.json") || strings.Contains(path, "/tag.")
}

// ofRun matches the files of a run.
func ofRun(id string) func(path string) bool {
	return func(path string) bool { return strings.HasPrefix(path, "runs/"+id+"/") }
}

// look runs do on the files of the branch without changing the branch.
func (b *Store) look(ctx context.Context, do func(*workdir) error) error {
	at, err := b.snapshot(ctx)
	if err != nil {
		return err
	}
	w, err := b.workdir(at)
	if err != nil {
		return err
	}
	defer w.remove()
	return w.located(do(w))
}
