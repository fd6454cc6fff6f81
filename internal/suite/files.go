package suite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// OS is the machine's own file system. Unlike with os.DirFS, paths may be
// absolute or lead upwards, because objects are often next to the folder of the
// suite.
var OS fs.FS = osFS("")

// Root is like OS, but for a copy of the file system below a folder.
func Root(folder string) fs.FS { return osFS(folder) }

type osFS string

func (root osFS) Open(name string) (fs.File, error)     { return os.Open(root.path(name)) }
func (root osFS) Stat(name string) (fs.FileInfo, error) { return os.Stat(root.path(name)) }

// ReadFile reads a regular file of bounded size, and waits for nothing: a device, a pipe or
// /proc/kmsg would keep the reader forever.
func (root osFS) ReadFile(name string) ([]byte, error) {
	// Opening a device may already have an effect.
	if info, err := os.Stat(root.path(name)); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.OpenFile(root.path(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	// A file in /proc does not report its size, and others may grow.
	tooLarge := fmt.Errorf("%s is larger than %d MiB", name, maxFile>>20)
	if info.Size() > maxFile {
		return nil, tooLarge
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(unwaiting{raw}, maxFile+1))
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return nil, fmt.Errorf("%s is not a regular file: it has no end", name)
	case err == nil && len(data) > maxFile:
		err = tooLarge
	}
	return data, err
}

// unwaiting reads a file that was opened with O_NONBLOCK. Unlike os.File, it fails with
// EAGAIN instead of waiting for data.
type unwaiting struct{ syscall.RawConn }

func (f unwaiting) Read(b []byte) (n int, err error) {
	controlErr := f.Control(func(fd uintptr) {
		for {
			if n, err = syscall.Read(int(fd), b); err != syscall.EINTR {
				return
			}
		}
	})
	switch {
	case controlErr != nil:
		return 0, controlErr
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return n, nil
}

// maxFile bounds a file that a suite names, in bytes.
const maxFile = 64 << 20

func (root osFS) Glob(pattern string) ([]string, error) {
	names, err := filepath.Glob(root.path(pattern))
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], string(root))
	}
	return names, err
}

func (root osFS) path(name string) string {
	if root == "" {
		return name
	}
	return filepath.Join(string(root), name)
}

func hasMeta(pattern string) bool { return strings.ContainsAny(pattern, `*?[\`) }

// relative is the inverse of path.Join(dir, name) for a name that was globbed
// below dir; it returns other names unchanged.
func relative(dir, name string) string {
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		return name
	}
	return path.Clean(filepath.ToSlash(rel))
}
