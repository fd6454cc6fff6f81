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
	root  *Root  // nil for that of this process
	owner uint32 // of the binary
	user  uint32 // of the process
	known bool
}

// nobody is a user and a group that nothing belongs to: the last number but one. The last is
// none (INVALID_UID in linux/uidgid.h), and files of another user namespace, or of NFS, belong
// to the one that is called nobody.
const nobody = 1<<32 - 2

// Public is the origin of paths that anybody may have written. It opens what everybody may
// read.
var Public = Origin{owner: nobody, user: nobody, known: true}

// OfUser returns the origin of the paths that a process of a user chooses. The root is that of
// its container, nil for that of this process.
func OfUser(root *Root, user uint32) Origin { return Origin{root, user, user, true} }

// Of returns the origin of the paths in a file that the process has mapped.
func (o Origin) Of(f *os.File) Origin {
	owner, known := ownerOf(f)
	return Origin{o.root, owner, o.user, known && o.known}
}

// Owns reports whether a file belongs to the owner of the binary.
func (o Origin) Owns(f *os.File) bool {
	owner, known := ownerOf(f)
	return known && o.known && owner == o.owner
}

// ownerOf returns who wrote a file. That is nobody in particular if others may write to it.
func ownerOf(f *os.File) (uint32, bool) {
	stat, err := inspect(int(f.Fd()))
	if err != nil {
		return 0, false
	}
	if stat.isShared() {
		return nobody, true
	}
	return stat.Uid, true
}

// Open opens a regular file, by its absolute path, if all who had a say in it may read it: the
// owner of the binary, the user of the process, whoever the folders and links on the way belong
// to, and everybody where others can put files, as in /tmp. It opens nothing outside the root,
// and nothing of a file system that is not made of files. Minimum kernel: 4.11.
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
		if err := become(user); err != nil {
			return err
		}
		w := walk{user: user}
		defer w.close()
		at, err := w.to(o.root, path)
		if err != nil {
			return err
		}
		writers = w.writers
		f, err = reopen(at, path)
		return err
	})
	return f, writers, err
}

// become reduces the rights of this thread to those of a user who is in no group. For root they
// stay those of this process.
func become(user uint32) error {
	if user == 0 {
		return nil
	}
	if user != uint32(os.Geteuid()) {
		if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
			return fmt.Errorf("give up groups: %w", errno)
		}
		if err := errors.Join(set(unix.SetfsgidRetGid, nobody), set(unix.SetfsuidRetUid, user)); err != nil {
			return err
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData // both words of the sets
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	data[0].Effective, data[1].Effective = 0, 0
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

// set sets the user or the group that files are opened as. The call returns the one before,
// and no error.
func set(call func(int) (int, error), id uint32) error {
	_, _ = call(int(id))
	if is, _ := call(-1); uint32(is) != id {
		return fmt.Errorf("open files as %d: %w", id, unix.EPERM)
	}
	return nil
}

// OpenFile opens a regular file as this process may, through any links. It opens nothing else:
// opening a device can do something, and opening a pipe can wait.
func OpenFile(path string) (*os.File, error) {
	at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(at)
	stat, err := inspect(at)
	switch {
	case err != nil:
	case !stat.is(unix.S_IFREG):
		err = errNotRegular
	default:
		var f *os.File
		if f, err = reopen(at, path); err == nil {
			return f, nil
		}
	}
	return nil, &os.PathError{Op: "open", Path: path, Err: err}
}

// reopen opens a file for reading that is open as a path. It does not wait for the holder of a
// lease (fcntl(2)), who can take as long as fs.lease-break-time.
func reopen(at int, path string) (*os.File, error) {
	fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", at), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
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
	user uint32 // as whom
	// writers are who could have put the file there, but for root; nobody if anybody could.
	writers []uint32
	// folders are from the root to where it is.
	folders []entry
	entries []entry // all that are open
}

// entry is a file or a folder, open as a path.
type entry struct {
	fd int
	status
}

// to returns the regular file that a path leads to below a root, open until the walk is closed.
func (w *walk) to(root *Root, path string) (int, error) {
	start, name := unix.AT_FDCWD, "/"
	if root != nil {
		start, name = int(root.folder.Fd()), "."
	}
	first, err := w.open(start, name)
	if err != nil {
		return 0, err
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
		case w.mayDeny(next.status, unix.S_IRGRP, unix.S_IROTH):
			return 0, errDenied
		default:
			return next.fd, nil
		}
	}
	return 0, unix.ELOOP
}

// next opens what has a name in a folder, and notes who could have put it there.
func (w *walk) next(in entry, name string) (entry, error) {
	if w.mayDeny(in.status, unix.S_IXGRP, unix.S_IXOTH) {
		return entry{}, errDenied
	}
	e, err := w.open(in.fd, name)
	if err != nil {
		return e, err
	}
	// Also where a file is mounted, as a container's /proc/cpuinfo.
	if e.device() != in.device() && (isServed(e.status) || isProvided(e.fd)) {
		return e, errProvided
	}
	if in.Uid != 0 {
		w.writers = append(w.writers, in.Uid)
	}
	// Where the sticky bit is, others cannot move a folder to or away.
	if in.isShared() && (in.Mode&unix.S_ISVTX == 0 || !e.is(unix.S_IFDIR)) {
		w.writers = append(w.writers, nobody)
	}
	return e, nil
}

func (w *walk) open(at int, name string) (entry, error) {
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return entry{}, err
	}
	e := entry{fd: fd}
	w.entries = append(w.entries, e)
	e.status, err = inspect(fd)
	return e, err
}

func (w *walk) close() {
	for _, e := range w.entries {
		_ = unix.Close(e.fd) // nothing is written to a path
	}
}

// mayDeny reports whether a file grants everybody what it denies to its group, which the user
// may be in.
func (w *walk) mayDeny(s status, group, other uint16) bool {
	return w.user != 0 && w.user != s.Uid && s.Mode&other != 0 && s.Mode&group == 0
}

func readLink(at int) (string, error) {
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(at, "", target)
	return string(target[:max(n, 0)]), err
}

// status is what is known of a file without asking a server for it.
type status struct{ unix.Statx_t }

func inspect(fd int) (s status, err error) {
	const what = unix.STATX_TYPE | unix.STATX_MODE | unix.STATX_UID | unix.STATX_GID
	err = unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, what, &s.Statx_t)
	return s, err
}

func (s status) is(kind uint16) bool { return s.Mode&unix.S_IFMT == kind }

func (s status) device() string { return fmt.Sprintf("%d:%d", s.Dev_major, s.Dev_minor) }

// isShared reports whether others than the owner may write to it. A group with the number of a
// user is that user's own, as distributions have it.
func (s status) isShared() bool {
	return s.Mode&unix.S_IWOTH != 0 || s.Mode&unix.S_IWGRP != 0 && s.Gid != s.Uid
}

// isProvided reports whether a file is of a file system of the kernel, where reading can do
// something, or of one whose server can say anything.
func isProvided(at int) bool {
	var system unix.Statfs_t
	if unix.Fstatfs(at, &system) != nil {
		return true
	}
	return slices.Contains([]int64{
		unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.EFIVARFS_MAGIC,
		unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.BPF_FS_MAGIC, unix.FUSE_SUPER_MAGIC,
	}, system.Type)
}

// isServed reports whether a folder is of a FUSE file system in the mount namespace of this
// process, without asking its server, who need not answer. Elsewhere the kernel does not let
// this process in.
func isServed(s status) bool {
	if s.Dev_major != 0 {
		return false
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(mounts)) {
		mount, system, _ := strings.Cut(line, " - ")
		if fields := strings.Fields(mount); len(fields) > 2 && fields[2] == s.device() && strings.HasPrefix(system, "fuse") {
			return true
		}
	}
	return false
}
