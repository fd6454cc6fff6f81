package branch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	gh "github.com/google/go-github/v53/github"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/github"
)

const (
	// maxCommits is how often a change is retried on top of other writers' commits. Each
	// conflict means that another writer succeeded, so 16 writers need 16.
	maxCommits = 64
	// maxRefusals is how often the same change may be refused although nobody else changed
	// the branch.
	maxRefusals = 4
	// maxPause is about the longest wait before a retry.
	maxPause = 8 * time.Second
)

// ErrRefused says that GitHub rejects the commit, although nobody else changed the branch:
// a rule may protect it.
var ErrRefused = errors.New("GitHub refuses the commit")

// change runs do on the files of the branch and commits what it changed. If another writer
// was faster, it starts again.
func (b *Store) change(ctx context.Context, message string, do func(*workdir) error) error {
	uploaded := make(map[string]bool)
	last, refusals := "-", 0
	for try := range maxCommits {
		at, err := b.snapshot(ctx)
		if err != nil {
			return err
		}
		if refusals++; at.commit != last {
			last, refusals = at.commit, 0
		}
		err = b.changeOnce(ctx, at, message, do, uploaded)
		if !conflict(err) {
			return err
		}
		if refusals+1 == maxRefusals {
			return bench.WithHint(fmt.Errorf("%w: %w", ErrRefused, err), "let the token write to the branch "+b.name+": a rule of the repository may protect it")
		}
		pause := min(b.api.Pause<<min(try, 10), maxPause)
		if err := github.Sleep(ctx, pause); err != nil {
			return err
		}
	}
	return fmt.Errorf("commit to branch %s: others were faster %d times", b.name, maxCommits)
}

// conflictError is GitHub's answer if the branch has changed in the meantime.
type conflictError struct{ error }

func (e *conflictError) Unwrap() error { return e.error }

func conflict(err error) bool {
	var c *conflictError
	return errors.As(err, &c)
}

// conflicting returns the error of a request that fails if the branch has changed.
func conflicting(err error) error {
	switch github.Status(err) {
	case http.StatusConflict, http.StatusUnprocessableEntity:
		return &conflictError{err}
	}
	return github.ErrorOf("commit to the baseline's branch", err)
}

// changeOnce makes a change on top of one commit.
func (b *Store) changeOnce(ctx context.Context, at *snapshot, message string, do func(*workdir) error, uploaded map[string]bool) error {
	w, err := b.workdir(at)
	if err != nil {
		return err
	}
	defer w.remove()
	if err := do(w); err != nil {
		return w.located(err)
	}
	changed, err := w.changed()
	if err != nil || len(changed) == 0 {
		return err
	}
	if err := w.addSmall(ctx, changed); err != nil {
		return err
	}
	if at.attributes == "" {
		// A checkout must not change any byte.
		changed[attributesFile] = []byte("* -text -diff\n")
	}
	return b.commit(ctx, at, message, changed, uploaded)
}

// commit commits files. A nil file is deleted.
func (b *Store) commit(ctx context.Context, at *snapshot, message string, changed map[string][]byte, uploaded map[string]bool) error {
	var entries []*gh.TreeEntry
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		e := &gh.TreeEntry{Path: gh.String(b.path(name)), Mode: gh.String("100644"), Type: gh.String("blob")}
		if data := changed[name]; data != nil {
			sha, err := b.upload(ctx, data, uploaded)
			if err != nil {
				return err
			}
			e.SHA = gh.String(sha)
		}
		entries = append(entries, e)
	}
	git, owner, repo := b.api.Client.Git, b.api.Owner, b.api.Repo
	tree, _, err := git.CreateTree(ctx, owner, repo, at.tree, entries)
	if err != nil {
		return conflicting(err)
	}
	commit, err := b.newCommit(ctx, at, tree.GetSHA(), message)
	if err != nil {
		return conflicting(err)
	}
	ref := &gh.Reference{Ref: gh.String("refs/heads/" + b.name), Object: &gh.GitObject{SHA: commit.SHA}}
	if at.commit == "" {
		_, _, err = git.CreateRef(ctx, owner, repo, ref)
	} else {
		_, _, err = git.UpdateRef(ctx, owner, repo, ref, false)
	}
	return conflicting(err)
}

// newCommit makes a commit. For the first one, go-github would omit the empty list of
// parents.
func (b *Store) newCommit(ctx context.Context, at *snapshot, tree, message string) (*gh.Commit, error) {
	parents := []string{}
	if at.commit != "" {
		parents = append(parents, at.commit)
	}
	path := fmt.Sprintf("repos/%s/%s/git/commits", b.api.Owner, b.api.Repo)
	req, err := b.api.Client.NewRequest(http.MethodPost, path, map[string]any{
		"message": message + "\n\n[skip ci]", "tree": tree, "parents": parents,
	})
	if err != nil {
		return nil, err
	}
	commit := new(gh.Commit)
	_, err = b.api.Client.Do(ctx, req, commit)
	return commit, err
}

// changed returns the files of the folder that differ from the branch, with nil for those
// that are gone.
func (w *workdir) changed() (map[string][]byte, error) {
	changed := make(map[string][]byte)
	for path := range w.here {
		changed[path] = nil
	}
	return changed, fs.WalkDir(os.DirFS(w.path), "runs", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(w.path, path))
		switch {
		case err != nil:
			return err
		case w.mentioned[path] && len(data) == 0, w.at.files[path] == gitSHA(data):
			delete(changed, path)
		default:
			changed[path] = append([]byte{}, data...)
		}
		return nil
	})
}
