// Package output writes the files that a command is asked for, each replacing
// the old one as a whole.
package output

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/google/renameio/v2"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/filelock"
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
		return "", errors.New("--out: it is a file, and never standard output")
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
	replaced, err := find(name)
	if err == nil {
		var probe *renameio.PendingFile
		if probe, err = replaced.pending(name); err == nil {
			err = probe.Cleanup()
		}
	}
	if err != nil {
		return "", fmt.Errorf("--out %s: %w", name, err)
	}
	return File(name), nil
}

// Lock waits until no other process holds the lock on the folder, and takes it. A file
// that is read, changed and replaced needs one, and it cannot be on the file itself.
func Lock(ctx context.Context, folder string) (unlock func(), err error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	if _, err := filelock.Wait(ctx, dir); err != nil {
		dir.Close()
		return nil, err
	}
	return func() { _ = dir.Close() }, nil
}

// isStored reports whether a file belongs to a run of a baseline.
func isStored(name string) bool {
	path, err := filepath.EvalSymlinks(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	return err == nil && baseline.CheckID(filepath.Base(filepath.Dir(path))) == nil
}

// old is the file that will be replaced; nil if there is none.
type old struct {
	uid, gid int
	mode     fs.FileMode
}

// find returns the file that will be replaced. It refuses one that somebody else put into a
// folder that everyone can write to: with its owner and its permissions, it would give them
// what is written. The kernel refuses to open such a file, see protected_regular in proc(5).
func find(name string) (*old, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, nil // there is none, or creating one says why not
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, errors.New("its owner is unknown")
	}
	folder, err := os.Stat(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	above, ok := folder.Sys().(*syscall.Stat_t)
	if ok && folder.Mode()&0o002 != 0 && stat.Uid != above.Uid && !isUser(int(stat.Uid)) {
		return nil, bench.WithHint(errors.New("it belongs to another user, in a folder that everyone can write to"), "remove it, or name a file in another folder")
	}
	return &old{int(stat.Uid), int(stat.Gid), info.Mode().Perm()}, nil
}

// isUser reports whether a user is the one who called this process, also by sudo.
func isUser(uid int) bool {
	called, _, ok := caller(os.Getenv)
	return uid == os.Geteuid() || ok && os.Geteuid() == 0 && uid == called
}

// pending returns a file that will replace another as a whole, with its
// permissions. Until then it lies next to it.
func (o *old) pending(name string) (*renameio.PendingFile, error) {
	permissions := renameio.WithPermissions(0o644)
	if o != nil {
		permissions = renameio.WithStaticPermissions(o.mode)
	}
	file, err := renameio.NewPendingFile(name, renameio.WithTempDir(filepath.Dir(name)), permissions)
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
	replaced, err := find(name)
	if err != nil {
		return err
	}
	file, err := replaced.pending(name)
	if err != nil {
		return err
	}
	defer file.Cleanup() //nolint:errcheck // a temporary file at worst
	uid, gid, ok := caller(os.Getenv)
	if replaced != nil {
		uid, gid, ok = replaced.uid, replaced.gid, true
	}
	if ok && os.Geteuid() == 0 {
		// On a file system without owners, nobody else owns the file either.
		_ = file.Chown(uid, gid)
	}
	if err = encode(file); err == nil {
		err = file.CloseAtomicallyReplace()
	}
	return unnamed("write it", err)
}

// caller returns the user who called sudo, if the environment is that of sudo.
func caller(getenv func(string) string) (uid, gid int, ok bool) {
	uid, err := strconv.Atoi(getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(getenv("SUDO_GID"))
	return uid, gid, err == nil && err2 == nil && uid >= 0 && gid >= 0
}
