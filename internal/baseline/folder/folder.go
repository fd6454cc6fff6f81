// Package folder implements a store of earlier runs in a folder, which many processes may
// use concurrently, and its exports and imports.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
	"github.com/org/ebpf-bench-action/internal/escape"
)

// DefaultDir is the folder for the runs of a suite, beside its file.
const DefaultDir = ".ebpf-bench"

// Dir is a Store in a folder:
//
//	objects/SHA256   an object, once, however many runs have it
//	runs/ID          a run, its points, the files of its suite
//	points/ID        its points, for History
//	tags/ID-DIGEST   one tag of it
//	index/ID         its Meta, by which it is listed
//	tmp/             files before they appear under their name
//	lock             held while files are added, and alone by Prune
//
// Files appear whole, never change, and belong to one run or to all that have that object,
// so writers never conflict. They are written in this order, so every run in the index is
// whole. Points and index derive from the run and can be rebuilt.
type Dir struct{ path string }

// Open returns the store in a folder. The first Save makes the folder; until then the
// store has no runs.
func Open(path string) *Dir { return &Dir{path} }

const (
	tmpDir   = "tmp"
	lockFile = "lock"
)

// root opens the folder and confines every access to it, wherever links in it lead. The
// error is fs.ErrNotExist if no folder exists.
func (d *Dir) root() (*os.Root, error) {
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return nil, fmt.Errorf("open baseline: %w", err)
	}
	return root, nil
}

// create is root, but first makes all the folders.
func (d *Dir) create() (*os.Root, error) {
	path, err := filepath.Abs(d.path)
	if err != nil {
		return nil, fmt.Errorf("create baseline: %w", err)
	}
	if err := makeFolder(path); err != nil {
		return nil, fmt.Errorf("create baseline: %w", err)
	}
	root, err := d.root()
	if err != nil {
		return nil, err
	}
	if err := createDirs(root, filepath.Dir(path)); err != nil {
		root.Close()
		return nil, fmt.Errorf("create baseline: %w", err)
	}
	return root, nil
}

// ErrNoStore says that a folder is not a store.
var ErrNoStore = errors.New("not a baseline")

// Exists returns nil if something was ever saved to the store. Otherwise the error is
// fs.ErrNotExist or ErrNoStore.
func (d *Dir) Exists() error {
	root, err := d.existing()
	if err != nil {
		return err
	}
	return root.Close()
}

// existing is root, but returns ErrNoStore if the folder is something else.
func (d *Dir) existing() (*os.Root, error) {
	root, err := d.root()
	if err != nil {
		return nil, err
	}
	for _, k := range format.Kinds {
		if info, err := root.Lstat(k.Dir); err == nil && info.IsDir() {
			return root, nil
		}
	}
	root.Close()
	return nil, fmt.Errorf("the folder %s is %w", escape.Printable(d.path), ErrNoStore)
}

// changeable is existing for operations that change existing runs. It returns nil if there
// cannot be any: if the folder does not exist or is empty.
func (d *Dir) changeable() (*os.Root, error) {
	root, err := d.existing()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, ErrNoStore):
		if all, readErr := os.ReadDir(d.path); readErr == nil && len(all) == 0 {
			return nil, nil
		}
		return d.existing() // a Save may have just made it
	}
	return root, err
}

// createDirs makes the folders and makes them durable, even those that another process has
// just made. Those by which a store is recognized come first.
func createDirs(root *os.Root, parent string) error {
	var dirs []string
	for _, k := range format.Kinds {
		dirs = append(dirs, k.Dir)
	}
	for _, dir := range append(dirs, tmpDir) {
		err := root.Mkdir(dir, 0o755)
		if err == nil {
			err = handOverIn(root, dir)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := syncDir(root, "."); err != nil {
		return err
	}
	above, err := os.OpenRoot(parent)
	if err != nil {
		return err
	}
	defer above.Close()
	return syncDir(above, ".")
}

// problem returns a Problem with a file in the store.
func (d *Dir) problem(file string, err error) baseline.Problem {
	return baseline.Problem{File: filepath.Join(d.path, filepath.FromSlash(file)), Err: err}
}

var _ baseline.Store = (*Dir)(nil)
