package symbol

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/thread"
)

// Origin is who wrote the paths in a binary, and the file system that they refer to. It opens
// only what these users may read anyway: this tool runs as root, and what it reads ends up in
// profiles that are passed on. The zero Origin opens nothing.
type Origin struct {
	root  *Root
	owner uint32 // of the binary
	user  uint32 // of the process
	known bool
}

// Public is the origin of paths that anybody may have written. It opens what everybody may
// read.
var Public = Origin{owner: nobody, user: nobody, known: true}

// OfUser returns the origin of the paths that a process of a user chooses. The root is that of
// its container, nil for that of this process.
func OfUser(root *Root, user uint32) Origin { return Origin{root, user, user, true} }

// Of returns the origin of the paths in a file that the process has mapped.
func (o Origin) Of(f *os.File) Origin {
	owner, known := o.ownerOf(f)
	return Origin{o.root, owner, o.user, known && o.known}
}

// Owns reports whether a file belongs to the owner of the binary.
func (o Origin) Owns(f *os.File) bool {
	owner, known := o.ownerOf(f)
	return known && o.known && owner == o.owner
}

// ownerOf returns who wrote a file. That is nobody in particular if others may write to it.
func (o Origin) ownerOf(f *os.File) (uint32, bool) {
	e, err := inspect(int(f.Fd()))
	if err != nil {
		return 0, false
	}
	if e.isShared(o.root) {
		return nobody, true
	}
	return e.Uid, true
}

// Open opens a regular file, by its absolute path, if all who had a say in it may read it: the
// owner of the binary, the user of the process, whoever the folders and links on the way belong
// to, and everybody where others can put files, as in /tmp. It opens nothing outside the root,
// and nothing of a file system that is not made of files. Minimum kernel: 5.8.
func (o Origin) Open(path string) (*os.File, error) {
	refuse := func(why error) error { return &os.PathError{Op: "open", Path: path, Err: why} }
	switch {
	case !o.known:
		return nil, refuse(errors.New("it is not known who names it"))
	case !strings.HasPrefix(path, "/"):
		return nil, refuse(errors.New("it is not known which folder it is in"))
	}
	readers := []uint32{o.owner}
	if o.user != o.owner {
		readers = append(readers, o.user)
	}
	var opened *os.File
	for i := 0; i < len(readers); i++ {
		f, writers, err := o.openAs(readers[i], path)
		if err == nil && opened != nil && !sameFile(opened, f) {
			err = errors.Join(errors.New("it changes"), f.Close())
		}
		if err != nil {
			if opened != nil {
				opened.Close()
			}
			return nil, refuse(err)
		}
		if opened == nil {
			opened = f
		} else {
			f.Close()
		}
		for _, user := range writers {
			if !slices.Contains(readers, user) {
				readers = append(readers, user)
			}
		}
	}
	return opened, nil
}

func sameFile(a, b *os.File) bool {
	first, err := a.Stat()
	second, err2 := b.Stat()
	return err == nil && err2 == nil && os.SameFile(first, second)
}

// openAs opens a file on a thread that has no more rights than a user without groups, and
// returns who else than root could have put it there.
func (o Origin) openAs(user uint32, path string) (f *os.File, writers []uint32, err error) {
	err = thread.Own(func() error {
		if err := become(user, nil); err != nil {
			return err
		}
		w := walk{root: o.root, user: user}
		defer w.close()
		at, err := w.to(path)
		if err != nil {
			return err
		}
		writers = w.writers
		f, err = reopen(at, path)
		return err
	})
	return f, writers, err
}

// OpenFile opens a regular file as this process may, through any links. It opens nothing else:
// opening a device can do something, and opening a pipe can wait.
func OpenFile(path string) (*os.File, error) {
	at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(at)
	e, err := inspect(at)
	switch {
	case err != nil:
	case !e.is(unix.S_IFREG):
		err = errNotRegular
	default:
		var f *os.File
		if f, err = reopen(at, path); err == nil {
			return f, nil
		}
	}
	return nil, &os.PathError{Op: "open", Path: path, Err: err}
}

// OpenMapped opens the file that the process has mapped to a range of addresses, also if it was
// deleted, if its user may read it: a program can be executed without. The root is its own. It
// takes CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN, and returns EPERM without. Minimum kernel: 5.8.
func (p Process) OpenMapped(root *Root, start, end uint64) (f *os.File, err error) {
	path := p.file(fmt.Sprintf("map_files/%x-%x", start, end))
	at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(at)
	e, err := inspect(at)
	switch {
	case err != nil:
	case !e.is(unix.S_IFREG):
		err = errNotRegular
	case !root.admits(e):
		err = errProvided
	default:
		err = thread.Own(func() error {
			err := become(p.User, p.Groups)
			if err == nil {
				f, err = reopen(at, path)
			}
			return err
		})
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return f, nil
}

// reopen opens a file for reading that is open as a path. It does not wait for the holder of a
// lease (fcntl(2)), who can take as long as fs.lease-break-time.
func reopen(at int, path string) (*os.File, error) {
	fd, err := unix.Open(inProc(at), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

var (
	errNotRegular = errors.New("it is not a regular file")
	errProvided   = errors.New("it is of a file system that is not made of files")
	errDenied     = errors.New("it may be closed to a group of the user")
)

// walk follows a path, folder by folder and link by link.
type walk struct {
	root *Root
	user uint32 // as whom
	// writers are who could have put the file there, but for root; nobody if anybody could.
	writers []uint32
	// folders are from the root to where it is.
	folders []entry
	entries []entry // all that are open
}

// to returns the regular file that a path leads to, open until the walk is closed.
func (w *walk) to(path string) (int, error) {
	start, name := unix.AT_FDCWD, "/"
	if w.root != nil {
		start, name = int(w.root.folder.Fd()), "."
	}
	first, err := w.open(start, name)
	if err != nil {
		return 0, err
	}
	if w.root != nil && !w.root.admits(first) {
		return 0, errProvided
	}
	w.folders = append(w.folders, first)
	const maxSteps = 256 // each keeps a file open
	rest := strings.Split(path, "/")
	for range maxSteps {
		if len(rest) == 0 {
			return 0, errNotRegular // but a folder
		}
		name, rest = rest[0], rest[1:]
		here := w.folders[len(w.folders)-1]
		switch name {
		case "", ".":
			continue
		case "..":
			w.folders = w.folders[:max(1, len(w.folders)-1)]
			continue
		}
		next, err := w.next(here, name)
		switch {
		case err != nil:
			return 0, err
		case next.is(unix.S_IFDIR):
			w.folders = append(w.folders, next)
		case next.is(unix.S_IFLNK):
			target, err := readLink(next.fd)
			if err != nil {
				return 0, err
			}
			if strings.HasPrefix(target, "/") {
				w.folders = w.folders[:1]
			}
			rest = append(strings.Split(target, "/"), rest...)
		case len(rest) > 0:
			return 0, unix.ENOTDIR
		case !next.is(unix.S_IFREG):
			return 0, errNotRegular
		case next.mayDeny(w.user, unix.S_IRGRP, unix.S_IROTH):
			return 0, errDenied
		default:
			return next.fd, nil
		}
	}
	return 0, unix.ELOOP
}

// next opens what has a name in a folder, and notes who could have put it there.
func (w *walk) next(in entry, name string) (entry, error) {
	if in.mayDeny(w.user, unix.S_IXGRP, unix.S_IXOTH) {
		return entry{}, errDenied
	}
	e, err := w.open(in.fd, name)
	if err != nil {
		return e, err
	}
	// Also where a file is mounted, as a container's /proc/cpuinfo.
	if e.Mnt_id != in.Mnt_id && !w.root.admits(e) {
		return e, errProvided
	}
	if in.Uid != 0 {
		w.writers = append(w.writers, in.Uid)
	}
	// Where the sticky bit is, others cannot move a folder to or away.
	if in.isShared(w.root) && (in.Mode&unix.S_ISVTX == 0 || !e.is(unix.S_IFDIR)) {
		w.writers = append(w.writers, nobody)
	}
	return e, nil
}

func (w *walk) open(at int, name string) (entry, error) {
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return entry{}, err
	}
	w.entries = append(w.entries, entry{fd: fd})
	return inspect(fd)
}

func (w *walk) close() {
	for _, e := range w.entries {
		_ = unix.Close(e.fd) // nothing is written to a path
	}
}

func readLink(at int) (string, error) {
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(at, "", target)
	return string(target[:max(n, 0)]), err
}
