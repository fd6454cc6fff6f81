// Package folder implements a store of earlier runs in a folder, which many processes may
// use concurrently, and its exports and imports.
package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/filelock"
)

// DefaultDir is the folder for the runs of a suite, beside its file.
const DefaultDir = ".ebpf-bench"

// Dir is a Store in a folder:
//
//	runs/ID/   the files of a run, see format.go
//	tmp/       folders of runs that are about to appear or disappear
//	lock       held by processes that change something
//
// The folder of a run appears whole, by a rename, and nothing in it but tags ever changes.
// So readers need no lock, and a process that is killed leaves something in tmp only, which
// the next one removes.
type Dir struct{ path string }

// Open returns the store in a folder. The first Save makes the folder; until then the
// store has no runs.
func Open(path string) *Dir { return &Dir{path} }

const (
	runsDir  = "runs"
	tmpDir   = "tmp"
	lockFile = "lock"
)

// Reserved reports whether a store has something of that name.
func Reserved(name string) bool {
	return slices.Contains([]string{runsDir, tmpDir, lockFile}, name)
}

// ErrNoStore says that a folder is not a store.
var ErrNoStore = errors.New("not a baseline")

// Exists returns nil if something was ever saved to the store. Otherwise the error is
// fs.ErrNotExist or ErrNoStore.
func (d *Dir) Exists() error {
	root, err := d.root()
	if err != nil {
		return err
	}
	return root.Close()
}

// root opens the folder and confines every access to it, wherever links in it lead. The
// error is fs.ErrNotExist if no folder exists or it is empty, and ErrNoStore if it is
// something else.
func (d *Dir) root() (*os.Root, error) {
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return nil, fmt.Errorf("open baseline: %w", err)
	}
	all, err := names(root, ".")
	switch {
	case err == nil && len(all) == 0: // a Save may have just made it
		err = fmt.Errorf("open baseline: the folder %s is empty: %w", escape.Printable(d.path), fs.ErrNotExist)
	case err == nil && !slices.Contains(all, runsDir):
		err = fmt.Errorf("the folder %s is %w", escape.Printable(d.path), ErrNoStore)
	case err == nil:
		err = d.checkFolders(root)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// checkFolders refuses links: by one, tmp would be the folder of the runs.
func (d *Dir) checkFolders(root *os.Root) error {
	for _, name := range []string{runsDir, tmpDir} {
		if st, err := root.Lstat(name); err == nil && !st.IsDir() {
			return bench.WithHint(fmt.Errorf("%s is no folder", escape.Printable(filepath.Join(d.path, name))), "remove it: a baseline has no links")
		}
	}
	return nil
}

// isEmpty reports whether the error of root means that there are no runs.
func isEmpty(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNoStore)
}

// create is root, but first makes all the folders, durably.
func (d *Dir) create() (*os.Root, error) {
	path, err := filepath.Abs(d.path)
	if err == nil {
		err = makeFolder(path)
	}
	if err == nil {
		err = makeFolder(filepath.Join(path, runsDir))
	}
	if err != nil {
		return nil, fmt.Errorf("create baseline: %w", err)
	}
	return d.root()
}

// change takes the lock and runs do, which may change the store, with an empty folder to
// work in. What killed processes left in tmp goes first, as far as it belongs to the caller.
func (d *Dir) change(ctx context.Context, root *os.Root, do func(scratch string) error) error {
	locked, unlock, err := lock(ctx, root)
	if err != nil {
		return err
	}
	defer unlock()
	if err := makeIn(root, tmpDir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if locked { // otherwise, others may be at work
		left, _ := names(root, tmpDir)
		for _, name := range left {
			_ = root.RemoveAll(tmpDir + "/" + name)
		}
	}
	scratch := tmpDir + "/" + newName()
	err = makeIn(root, scratch)
	if errors.Is(err, syscall.ENOSPC) {
		scratch, err = tmpDir, nil // a change that makes room needs none
	}
	if err != nil {
		return err
	}
	err = do(scratch)
	if scratch == tmpDir {
		return errors.Join(err, empty(root, tmpDir))
	}
	return errors.Join(err, root.RemoveAll(scratch))
}

// makeIn makes a folder in the store.
func makeIn(root *os.Root, dir string) error {
	if err := root.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return handOverIn(root, dir)
}

// empty removes all that is in a folder, which stays: on a full disk, it could not be made
// again.
func empty(root *os.Root, dir string) error {
	all, err := names(root, dir)
	for _, name := range all {
		err = errors.Join(err, root.RemoveAll(dir+"/"+name))
	}
	return err
}

// lock waits for the lock. On a file system without locks, locked is false.
func lock(ctx context.Context, root *os.Root) (locked bool, unlock func(), err error) {
	f, err := root.OpenFile(lockFile, os.O_CREATE|os.O_RDWR|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return false, nil, fmt.Errorf("lock: %w", err)
	}
	if err = handOverTo(root, f); err == nil {
		if locked, err = filelock.Wait(ctx, f); err == nil {
			return locked, func() { f.Close() }, nil
		}
		err = bench.WithHint(err, "another process is using the baseline: try again")
	}
	f.Close()
	return false, nil, fmt.Errorf("lock: %w", err)
}

// problem returns a Problem with a file in the store.
func (d *Dir) problem(file string, err error) baseline.Problem {
	return baseline.Problem{File: filepath.Join(d.path, runsDir, filepath.FromSlash(file)), Err: err}
}

var _ baseline.Store = (*Dir)(nil)
