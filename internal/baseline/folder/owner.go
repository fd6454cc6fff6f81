package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Files that root creates through sudo, in a folder of the user who called it, belong to
// that user: measuring needs root, and its results must not. Only open files are handed
// over, never names, which somebody could give to another file meanwhile.

// caller returns the user who called sudo.
func caller() (uid, gid int, ok bool) {
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	if err != nil || uid <= 0 || os.Geteuid() != 0 {
		return 0, 0, false
	}
	gid, err = strconv.Atoi(os.Getenv("SUDO_GID"))
	return uid, gid, err == nil && gid >= 0
}

// handOver gives the caller a file in a folder that belongs to the caller. It does nothing
// on a file system without owners.
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

// handOverIn is handOver for a file or folder in a store.
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

// makeFolder makes a folder and its parents.
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
			return nil // another process has just made it
		}
		return err
	}
	above, err := os.OpenRoot(parent)
	if err != nil {
		return err
	}
	defer above.Close()
	if err := handOverIn(above, filepath.Base(path)); err != nil {
		return err
	}
	return syncDir(above, ".")
}
