package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// What root creates by sudo, in a folder of the user who called it, belongs to
// that user: measuring takes root, and what comes of it must not. Whatever is
// handed over is a file that was opened, never a name that somebody else could
// meanwhile give to another.

// caller is who called sudo.
func caller() (uid, gid int, ok bool) {
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	if err != nil || uid <= 0 || os.Geteuid() != 0 {
		return 0, 0, false
	}
	gid, err = strconv.Atoi(os.Getenv("SUDO_GID"))
	return uid, gid, err == nil && gid >= 0
}

// handOver gives the caller a file in a folder that is the caller's. Where the
// file system has no owners, it stays as it is.
func handOver(folder fs.FileInfo, f *os.File) error {
	uid, gid, ok := caller()
	if !ok || !belongs(folder, uid) {
		return nil
	}
	if st, err := f.Stat(); err != nil || !belongs(st, 0) {
		return err
	}
	if err := f.Chown(uid, gid); !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// handOverIn does so with a file or folder of a store.
func handOverIn(root *os.Root, name string) error {
	if _, _, ok := caller(); !ok {
		return nil
	}
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return handOverTo(root, f)
}

func handOverTo(root *os.Root, f *os.File) error {
	if _, _, ok := caller(); !ok {
		return nil
	}
	folder, err := root.Stat(".")
	if err != nil {
		return err
	}
	return handOver(folder, f)
}

func belongs(info fs.FileInfo, uid int) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(st.Uid) == int64(uid)
}

// makeFolder makes a folder and those above it.
func makeFolder(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := makeFolder(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
			return nil // another process made it a moment ago
		}
		return err
	}
	above, err := os.OpenRoot(parent)
	if err != nil {
		return err
	}
	defer above.Close()
	return handOverIn(above, filepath.Base(path))
}
