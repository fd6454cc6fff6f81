package symbol

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/thread"
)

// Origin is who wrote the paths in a binary, and the file system that they refer to. It opens
// only what these users may read anyway: this tool runs as root, and what it reads ends up in
// profiles that are passed on. The zero Origin opens nothing.
type Origin struct {
	root  *os.File // of a container, nil for that of this process
	owner uint32   // of the binary
	user  uint32   // of the process
	known bool
}

// Nobody owns no file, and is in no group (DEFAULT_OVERFLOWUID in linux/highuid.h).
const Nobody = 65534

// OriginOf returns the origin of the paths in a file that a process of a user has mapped. The
// root is that of its container, nil for that of this process.
func OriginOf(f, root *os.File, user uint32) Origin {
	owner, known := ownerOf(f)
	return Origin{root, owner, user, known}
}

// OfUser returns the origin of the paths that a user chose in the file system of this process.
func OfUser(user uint32) Origin { return Origin{owner: user, user: user, known: true} }

// ownerOf returns the owner of a file. That of a FUSE file system is whoever its server says.
func ownerOf(f *os.File) (uint32, bool) {
	var stat unix.Stat_t
	var system unix.Statfs_t
	if unix.Fstat(int(f.Fd()), &stat) != nil || unix.Fstatfs(int(f.Fd()), &system) != nil {
		return 0, false
	}
	if system.Type == unix.FUSE_SUPER_MAGIC {
		return Nobody, true
	}
	return stat.Uid, true
}

// Open opens a regular file that both the owner of the binary and the user of the process may
// read. Through links it opens only what everybody may read, because a third user may have
// made them, and nothing outside the root. Minimum kernel: 5.6.
func (o Origin) Open(path string) (*os.File, error) {
	if !o.known {
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("it is not known who names it")}
	}
	f, err := o.openFor(o.owner, path)
	if err != nil || o.user == o.owner {
		return f, err
	}
	again, err := o.openFor(o.user, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	defer again.Close()
	if first, err := f.Stat(); err == nil {
		if second, err := again.Stat(); err == nil && os.SameFile(first, second) {
			return f, nil
		}
	}
	f.Close()
	return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("it changes")}
}

// openFor opens a file that a user may read.
func (o Origin) openFor(user uint32, path string) (*os.File, error) {
	f, err := o.openAs(user, path, unix.RESOLVE_NO_SYMLINKS)
	if err == nil && !hasLinks(f) {
		return f, nil
	}
	if err == nil {
		f.Close()
	} else if !errors.Is(err, unix.ELOOP) {
		return nil, err
	}
	return o.openAs(Nobody, path, unix.RESOLVE_NO_MAGICLINKS)
}

// hasLinks reports whether a file has several names. Some kernels let everybody make one for
// a file of others (fs.protected_hardlinks in sysctl/fs.rst of Linux).
func hasLinks(f *os.File) bool {
	var stat unix.Stat_t
	return unix.Fstat(int(f.Fd()), &stat) != nil || stat.Nlink > 1
}

// openAs opens a regular file on a thread that has no more rights than a user without groups.
func (o Origin) openAs(user uint32, path string, resolve uint64) (f *os.File, err error) {
	err = thread.Own(func() error {
		if err := become(user); err != nil {
			return &os.PathError{Op: "open", Path: path, Err: err}
		}
		f, err = openIn(o.root, path, resolve)
		return err
	})
	return f, err
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
		if err := errors.Join(set(unix.SetfsgidRetGid, Nobody), set(unix.SetfsuidRetUid, user)); err != nil {
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
	if is, _ := call(-1); is != int(id) {
		return fmt.Errorf("open files as %d: %w", id, unix.EPERM)
	}
	return nil
}

// OpenFile opens a regular file as this process may, through any links.
func OpenFile(path string) (*os.File, error) { return openIn(nil, path, 0) }

// openIn opens a regular file below a folder, or below the root of this process. It
// opens nothing else: opening a device can do something, and opening a pipe can wait.
func openIn(root *os.File, path string, resolve uint64) (*os.File, error) {
	fd, how := unix.AT_FDCWD, unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: resolve}
	if root != nil {
		fd = int(root.Fd())
		how.Resolve |= unix.RESOLVE_IN_ROOT
	}
	at, err := unix.Openat2(fd, path, &how)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(at)
	var stat unix.Stat_t
	if err := unix.Fstat(at, &stat); err != nil {
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("it is not a regular file")}
	}
	f, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", at))
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
	}
	return f, nil
}
