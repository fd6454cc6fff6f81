package built

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// Outside are objects of a checkout that are outside of it, where a link in it leads: the
// builds of both sides put them in one place, as those of Bazel do.
type Outside []outside

// outside is an object: its path in the checkout, that without links, and what is there.
type outside struct {
	name, path string
	data       []byte
	info       fs.FileInfo
}

// TakeOutside keeps those of the objects that are outside of the checkout dir, and removes
// the ones that were written since then, so that only the next build can have made what is
// there after it.
func TakeOutside(dir string, objects []string, since time.Time) (Outside, error) {
	all, err := readOutside(dir, objects)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if changed(o.info).Before(since) {
			continue
		}
		if err := os.Remove(o.path); err != nil {
			return nil, errors.Join(err, all.GiveBack())
		}
	}
	return all, nil
}

// GiveBack makes the objects again what they were.
func (all Outside) GiveBack() error {
	var errs []error
	for _, o := range all {
		if now, err := os.Stat(o.path); err != nil || !changed(now).Equal(changed(o.info)) {
			errs = append(errs, o.write(o.path))
		}
	}
	return errors.Join(errs...)
}

// BringOutside copies those of the objects that are outside of the checkout dir into it, and
// replaces the links that lead to them.
func BringOutside(dir string, objects []string) error {
	all, err := readOutside(dir, objects)
	for _, o := range all {
		err = errors.Join(err, unlink(dir, o.name), o.write(o.name))
	}
	return err
}

// readOutside reads those of the objects whose paths are in the folder dir, and lead out of it.
func readOutside(dir string, objects []string) (all Outside, err error) {
	for _, name := range objects {
		if rel, err := filepath.Rel(dir, name); err != nil || !filepath.IsLocal(rel) {
			continue
		}
		o := outside{name: name}
		if o.path, err = leaves(dir, name); err != nil {
			return nil, err
		}
		if o.path == "" {
			continue
		}
		if o.info, err = os.Stat(o.path); err != nil {
			return nil, err
		}
		if o.data, err = os.ReadFile(o.path); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// leaves returns the path without links of a file, empty if that is in the folder dir.
func leaves(dir, name string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(dir, path); err != nil || filepath.IsLocal(rel) {
		return "", err
	}
	return path, nil
}

// unlink removes the link by which a path leaves the folder dir, if it still does.
func unlink(dir, name string) error {
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		return err
	}
	at := dir
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		switch path, err := leaves(dir, at); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case path != "":
			return os.Remove(at)
		}
	}
	return nil
}

// write puts the object at a path, with its mode and time.
func (o *outside) write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := renameio.WriteFile(path, o.data, 0o600); err != nil {
		return err
	}
	if err := os.Chmod(path, o.info.Mode().Perm()); err != nil {
		return err
	}
	return os.Chtimes(path, time.Time{}, o.info.ModTime())
}

// changed returns when a file last changed, its mode and name included.
func changed(info fs.FileInfo) time.Time {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(stat.Ctim.Unix())
	}
	return info.ModTime()
}
