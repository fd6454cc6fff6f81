package built

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// Kept are objects as a build left them.
type Kept []kept

// kept is an object: its path, that without links, and what is there.
type kept struct {
	name, path string
	data       []byte
	info       fs.FileInfo
	// removed says that Keep removed it.
	removed bool
}

// Keep keeps the objects of the checkout dir, so that the build of the other side cannot
// change them. It removes those outside of the checkout that were written since then, so
// that only the next build can have made what is there after it.
func Keep(dir string, objects []string, since time.Time) (Kept, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	var all Kept
	for _, name := range objects {
		path, err := filepath.EvalSymlinks(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // whoever measures reports that
		}
		if err == nil {
			all, err = all.add(name, path)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range all {
		o := &all[i]
		if inside(dir, o.path) || changed(o.info).Before(since) {
			continue
		}
		o.removed = true
		if err := os.Remove(o.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, all.GiveBack())
		}
	}
	return all, nil
}

// add adds the object at a path, unless it is none that can be measured.
func (all Kept) add(name, path string) (Kept, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return all, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return all, err
	}
	return append(all, kept{name: name, path: path, data: data, info: info}), nil
}

// GiveBack makes the objects again what they were.
func (all Kept) GiveBack() error {
	var errs []error
	for i := range all {
		o := &all[i]
		if o.same() {
			continue
		}
		errs = append(errs, o.write(o.path))
		if info, err := os.Stat(o.path); err == nil {
			o.info, o.removed = info, false
		}
	}
	return errors.Join(errs...)
}

// Overwritten reports whether one that Keep left in its place is no longer what it was.
func (all Kept) Overwritten() bool {
	return slices.ContainsFunc(all, func(o kept) bool { return !o.removed && !o.same() })
}

// same reports whether an object is what it was.
func (o *kept) same() bool {
	now, err := os.Stat(o.path)
	return err == nil && os.SameFile(now, o.info) && changed(now).Equal(changed(o.info))
}

// BringOutside copies those of the objects whose paths are in the checkout dir, and lead out
// of it, into it, and replaces the links that lead to them. The build saw the checkout at the
// path at, so links to there lead to files of this checkout.
func BringOutside(dir, at string, objects []string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if at, err = filepath.EvalSymlinks(at); err != nil {
		return err
	}
	var all Kept
	for _, name := range objects {
		rel, err := filepath.Rel(dir, name)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		name = filepath.Join(real, rel)
		path, err := led(real, at, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // whoever measures reports that
		}
		if err == nil && path != "" {
			all, err = all.add(name, path)
		}
		if err != nil {
			return err
		}
	}
	for _, o := range all {
		err = errors.Join(err, unlink(real, o.name), o.write(o.name))
	}
	return err
}

// led returns the path of the file that an object's path led to while the folder dir was at
// the path at, empty if no link leads out of dir.
func led(dir, at, name string) (path string, err error) {
	path = name
	for range maxLinks {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", err
		}
		switch rel, err := filepath.Rel(at, real); {
		case err != nil:
			return "", err
		case inside(dir, real):
			if path == name {
				return "", nil
			}
			return real, nil
		case !filepath.IsLocal(rel):
			return real, nil
		default:
			path = filepath.Join(dir, rel)
		}
	}
	return "", &fs.PathError{Op: "follow", Path: name, Err: syscall.ELOOP}
}

// maxLinks is how often a path may leave a checkout and lead back into it.
const maxLinks = 40

// inside reports whether a path without links is in the folder dir.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
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
		path, err := filepath.EvalSymlinks(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !inside(dir, path):
			return os.Remove(at)
		}
	}
	return nil
}

// write puts the object at a path, with its mode and time.
func (o *kept) write(path string) error {
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
