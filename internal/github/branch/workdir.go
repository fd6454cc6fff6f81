package branch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
)

// workdir is a folder with some of the files of the branch.
type workdir struct {
	branch *Store
	at     *snapshot
	path   string
	dir    *folder.Dir
	// here are the files that came from the branch, mentioned those of them that came
	// without their content.
	here, mentioned map[string]bool
}

func (b *Store) workdir(at *snapshot) (*workdir, error) {
	path, err := os.MkdirTemp(b.scratch, "ebpf-bench-branch-")
	if err != nil {
		return nil, fmt.Errorf("make a folder to work in: %w", err)
	}
	if err := os.Mkdir(filepath.Join(path, "runs"), 0o755); err != nil {
		return nil, fmt.Errorf("make a folder to work in: %w", err)
	}
	return &workdir{
		branch: b, at: at, path: path, dir: folder.Open(path),
		here: make(map[string]bool), mentioned: make(map[string]bool),
	}, nil
}

func (w *workdir) remove() { _ = os.RemoveAll(w.path) }

// fetch downloads the files of the branch that any of wanted accepts.
func (w *workdir) fetch(ctx context.Context, wanted ...func(path string) bool) error {
	shas := make(map[string][]string)
	for path, sha := range w.at.files {
		if !w.here[path] && slices.ContainsFunc(wanted, func(want func(string) bool) bool { return want(path) }) {
			shas[sha] = append(shas[sha], path)
			w.here[path] = true
		}
	}
	return w.branch.blobs(ctx, w.at, slices.Sorted(maps.Keys(shas)), func(sha string, data []byte) error {
		for _, path := range shas[sha] {
			if err := w.write(path, data); err != nil {
				return err
			}
		}
		return nil
	})
}

// mention makes empty files for those that wanted accepts and that are not here, for work
// that only asks whether a file exists.
func (w *workdir) mention(wanted func(path string) bool) error {
	for path := range w.at.files {
		if w.here[path] || !wanted(path) {
			continue
		}
		w.here[path], w.mentioned[path] = true, true
		if err := w.write(path, nil); err != nil {
			return err
		}
	}
	return nil
}

func (w *workdir) write(path string, data []byte) error {
	name := filepath.Join(w.path, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// problems changes the file names in problems to those on the branch.
func (w *workdir) problems(all []baseline.Problem) []baseline.Problem {
	for i := range all {
		all[i].File = w.named(all[i].File)
	}
	return all
}

// located changes the file name in an error to that on the branch.
func (w *workdir) located(err error) error {
	if p, ok := errors.AsType[baseline.Problem](err); ok {
		p.File = w.named(p.File)
		return p
	}
	return err
}

func (w *workdir) named(file string) string {
	if name, err := filepath.Rel(w.path, file); err == nil && filepath.IsLocal(name) {
		return w.branch.name + ":" + w.branch.path(filepath.ToSlash(name))
	}
	return file
}

// withTags runs do with the tags of a run, which itself only has to exist.
func (w *workdir) withTags(ctx context.Context, id string, do func() error) error {
	if err := w.mention(ofRun(id)); err != nil {
		return err
	}
	return do()
}
