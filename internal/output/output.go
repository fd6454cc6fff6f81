// Package output writes the files that a command is asked for, each replacing
// the old one as a whole.
package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/google/renameio/v2"

	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

// File is the file of --out, or "" without it.
type File string

// New checks the file before anything is measured, so that a wrong path costs
// no time. It refuses to replace one of the files that are read.
func New(name string, reads []string) (File, error) {
	if name == "" {
		return "", nil
	}
	if name == "-" {
		return "", errors.New("--out: it is a file: --format json prints to stdout")
	}
	if _, err := os.Stat(filepath.Dir(name)); err != nil {
		return "", fmt.Errorf("--out %s: %w", name, err)
	}
	// A link would be replaced, and its target left alone.
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		if info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("--out: %s is a symbolic link: name its target", name)
		}
		return "", fmt.Errorf("--out: %s is not a regular file", name)
	}
	// A read-only file would be replaced, too: that only needs rights to the
	// folder.
	if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o222 == 0 {
		return "", fmt.Errorf("--out: %s is read-only", name)
	}
	if isStored(name) {
		return "", fmt.Errorf("--out: %s is a file of a baseline", name)
	}
	if out, err := os.Stat(name); err == nil {
		for _, other := range reads {
			if info, err := os.Stat(other); err == nil && os.SameFile(info, out) {
				return "", fmt.Errorf("--out %s is also an input", name)
			}
		}
	}
	probe, err := pending(name)
	if err == nil {
		err = probe.Cleanup()
	}
	if err != nil {
		return "", fmt.Errorf("--out %s: %w", name, err)
	}
	return File(name), nil
}

// Lock waits until no other process holds the lock on the folder, and takes it. A file
// that is read, changed and replaced needs one, and it cannot be on the file itself.
func Lock(folder string) (unlock func(), err error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	// Where there are no locks, as on some network file systems, it goes without.
	_ = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX)
	return func() { _ = dir.Close() }, nil
}

// isStored reports whether a regular file belongs to a baseline.
func isStored(name string) bool {
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(file, head)
	return format.IsFile(head[:n])
}

// pending returns a file that will replace another as a whole, with its
// permissions. Until then it lies next to it.
func pending(name string) (*renameio.PendingFile, error) {
	file, err := renameio.NewPendingFile(name, renameio.WithTempDir(filepath.Dir(name)),
		renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
	return file, unnamed("create it", err)
}

// unnamed returns an error of a pending file without its temporary name, which
// says nothing to anybody.
func unnamed(doing string, err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return fmt.Errorf("%s: %w", doing, e.Err)
	}
	return err
}

// Write replaces the file as a whole: a crash leaves the previous one.
func (o File) Write(encode func(io.Writer) error) error {
	if o == "" {
		return nil
	}
	if err := Replace(string(o), encode); err != nil {
		return fmt.Errorf("save results: %s: %w", o, err)
	}
	return nil
}

// Replace replaces a file as a whole, or creates it. A replaced file keeps its
// owner; a file created by sudo belongs to the user who called sudo.
func Replace(name string, encode func(io.Writer) error) error {
	file, err := pending(name)
	if err != nil {
		return err
	}
	defer file.Cleanup() //nolint:errcheck // a temporary file at worst
	if uid, gid, ok := owner(name, os.Getenv); ok && os.Geteuid() == 0 {
		// On a file system without owners, nobody else owns the file either.
		_ = file.Chown(uid, gid)
	}
	if err = encode(file); err == nil {
		err = file.CloseAtomicallyReplace()
	}
	return unnamed("write it", err)
}

// owner returns the owner of a file, or of a file to be created if the
// environment is that of sudo.
func owner(name string, getenv func(string) string) (uid, gid int, ok bool) {
	if info, err := os.Lstat(name); err == nil {
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return 0, 0, false
		}
		return int(stat.Uid), int(stat.Gid), true
	}
	uid, err := strconv.Atoi(getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(getenv("SUDO_GID"))
	return uid, gid, err == nil && err2 == nil && uid >= 0 && gid >= 0
}
