// Package built tells from evidence whether the objects of two checkouts were built from the
// sources of their own side. Builds reuse what they find outside of the checkout, and a base
// that was not built compares equal.
package built

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

const (
	// unread is how long before its modification an unread file was last accessed. With the
	// mount option relatime, which is the default, the next read then sets the access time.
	unread = 24 * time.Hour
	// renewing is the time that Renew takes at least. Files get times from its first part.
	renewing, renewed = 20 * time.Millisecond, 5 * time.Millisecond
)

// Renew makes the files of a checkout newer than everything that exists, in their old
// order, and those that changed the newest. A build that goes by time, as that of make does,
// then builds all of it, even where an earlier build of other sources left its results
// outside of the checkout, or where results are committed. Renew returns the time from which
// on the files are modified, zero if the file system has only whole seconds.
func Renew(dir string, changed []string) (time.Time, error) {
	return renew(dir, changed, func(file) bool { return true })
}

// RenewChanged is Renew for the files alone that changed.
func RenewChanged(dir string, changed []string) (time.Time, error) {
	return renew(dir, changed, func(f file) bool { return f.changed })
}

func renew(dir string, changed []string, which func(file) bool) (time.Time, error) {
	dir = filepath.Clean(dir)
	var files []file
	among := map[string]bool{}
	for _, path := range changed {
		among[filepath.Join(dir, path)] = true
	}
	err := walk(dir, func(f file) {
		for at := f.name; at != dir && !f.changed; at = filepath.Dir(at) {
			f.changed = among[at]
		}
		if which(f) {
			files = append(files, f)
		}
	})
	if err != nil {
		return time.Time{}, err
	}
	slices.SortStableFunc(files, func(a, b file) int {
		if a.changed != b.changed {
			return map[bool]int{false: -1, true: 1}[a.changed]
		}
		return a.info.ModTime().Compare(b.info.ModTime())
	})
	began, exact := time.Now(), true
	for i, f := range files {
		now := began.Add(min(time.Duration(i), renewed-1))
		if err := os.Chtimes(f.name, now, now); err != nil {
			return time.Time{}, err
		}
		if info, err := os.Lstat(f.name); i == 0 && err == nil {
			exact = !info.ModTime().Before(began)
		}
	}
	// What the build makes must be newer than them, by a clock that ticks every 10 ms.
	time.Sleep(time.Until(began.Add(renewing)))
	if !exact {
		return time.Time{}, nil
	}
	return began, nil
}

// MarkUnread marks the files of a checkout as not read since Renew.
func MarkUnread(dir string) error {
	var errs []error
	err := walk(dir, func(f file) {
		// Who may not, built nothing from it as another user before.
		errs = append(errs, passOver(os.Chtimes(f.name, f.info.ModTime().Add(-unread), time.Time{}), true))
	})
	return cmp.Or(err, errors.Join(errs...))
}

// Relink makes the links in a checkout lead to where they led for its build, which saw it at
// the path at: the absolute ones into it, and the relative ones out of it.
func Relink(dir, at string) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type() != fs.ModeSymlink {
			return passOver(err, name != dir)
		}
		to, err := os.Readlink(name)
		if err != nil {
			return err
		}
		now, err := relinked(dir, at, name, to)
		if err != nil || now == to {
			return err
		}
		if err := os.Remove(name); err != nil {
			return err
		}
		return os.Symlink(now, name)
	})
}

// relinked returns where a link has to lead.
func relinked(dir, at, name, to string) (string, error) {
	if filepath.IsAbs(to) {
		if rel, err := filepath.Rel(at, to); err != nil || filepath.IsLocal(rel) {
			return filepath.Join(dir, rel), err
		}
		return to, nil
	}
	in, err := filepath.Rel(dir, filepath.Dir(name))
	if err != nil || filepath.IsLocal(filepath.Join(in, to)) {
		return to, err
	}
	return filepath.Join(at, in, to), nil
}

// passOver drops an error of a file that vanishes, or that this user cannot read or change.
func passOver(err error, inside bool) error {
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	for _, passed := range []error{fs.ErrNotExist, syscall.ENAMETOOLONG, syscall.EROFS, syscall.EIO} {
		if inside && errors.Is(err, passed) {
			return nil
		}
	}
	return err
}

// file is a regular file of a checkout.
type file struct {
	name    string
	info    fs.FileInfo
	changed bool
}

// isUnread reports whether a file was not read since then, if it was marked as unread. What
// sets its times to those of its commit does not read it.
func isUnread(info fs.FileInfo, since time.Time) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && time.Unix(stat.Atim.Unix()).Before(since)
}

// walk calls do for each regular file of a checkout but those of git.
func walk(dir string, do func(file)) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return passOver(err, name != dir)
		case entry.Name() == ".git" && name != dir:
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err == nil {
			do(file{name: name, info: info})
		}
		return passOver(err, true)
	})
}
