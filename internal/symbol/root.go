package symbol

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
)

// Root is the root folder of a process. It keeps its mount namespace, too: what is mounted below
// the folder would be gone when the last process has ended, and what is hidden by a mount would
// appear. A nil Root is that of this process.
type Root struct {
	folder *os.File
	mounts *mounts
	// foreign: the namespace is of another user namespace, where users without rights mount.
	foreign bool
}

// OpenRoot opens the root folder of the process. The garbage collector closes it. Its mounts take
// of the budget when they are read.
func (p Process) OpenRoot(left *budget.Budget) (*Root, error) {
	list, err := openMounts(p.file("mountinfo"), left)
	if err != nil {
		return nil, err
	}
	folder, err := os.OpenFile(p.file("root"), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, errors.Join(err, list.file.Close())
	}
	foreign, err := p.isForeign()
	if err != nil {
		return nil, errors.Join(err, folder.Close(), list.file.Close())
	}
	return &Root{folder, list, foreign}, nil
}

func (p Process) file(name string) string { return fmt.Sprintf("/proc/%d/%s", p.PID, name) }

// isForeign reports whether the mount namespace of the process is of another user namespace than
// this process. The kernel does not show those that are not below it.
func (p Process) isForeign() (bool, error) {
	namespace, err := os.Open(p.file("ns/mnt"))
	if err != nil {
		return false, err
	}
	defer namespace.Close()
	fd, err := unix.IoctlRetInt(int(namespace.Fd()), unix.NS_GET_USERNS)
	if errors.Is(err, unix.EPERM) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the user namespace of process %d: %w", p.PID, err)
	}
	defer unix.Close(fd)
	var owner, own unix.Stat_t
	err = errors.Join(unix.Fstat(fd, &owner), unix.Stat("/proc/self/ns/user", &own))
	return owner.Ino != own.Ino || owner.Dev != own.Dev, err
}

// provided are the types of file systems that are not made of files: those of the kernel, where
// reading can do something, and those where somebody need not answer. This process could then
// not be ended. All of FUSE is, too.
var provided = []string{
	"autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "efivarfs", "mqueue", "nfsd", "proc",
	"pstore", "resctrl", "rpc_pipefs", "securityfs", "selinuxfs", "smackfs", "sysfs", "tracefs",
}

// admits reports whether a file is of a file system that is made of files, by the lists of
// mounts.
func (r *Root) admits(e entry) bool {
	own, err := own()
	if err != nil {
		return false
	}
	mounted, known, err := own.mount(e.Mnt_id)
	if err == nil && !known && r != nil {
		mounted, known, err = r.mounts.mount(e.Mnt_id)
		// There can be anything below it, unless this process has it, too.
		if known && r.foreign && mounted.system == "overlay" {
			known, err = own.has(mounted.device)
		}
	}
	switch {
	case err != nil:
		return false
	case !known:
		return e.isMemory()
	}
	return !strings.HasPrefix(mounted.system, "fuse") && !slices.Contains(provided, mounted.system)
}

func (e entry) device() string { return fmt.Sprintf("%d:%d", e.Dev_major, e.Dev_minor) }

// isMemory reports whether a file is in memory without a name, as memfd_create(2) makes it.
func (e entry) isMemory() bool {
	fd, err := unix.MemfdCreate("", unix.MFD_CLOEXEC)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	other, err := inspect(fd)
	return err == nil && other.device() == e.device()
}

// Tree identifies a root folder in a mount namespace: paths lead processes that have the same
// to the same files.
type Tree struct {
	namespace uint64
	device    string
	inode     uint64
}

// Tree returns that of the process.
func (p Process) Tree() (t Tree, err error) {
	var namespace unix.Stat_t
	if err := unix.Stat(p.file("ns/mnt"), &namespace); err != nil {
		return t, fmt.Errorf("read the mount namespace of process %d: %w", p.PID, err)
	}
	var root entry
	// Its server need not answer.
	if err := unix.Statx(unix.AT_FDCWD, p.file("root"), unix.AT_STATX_DONT_SYNC, unix.STATX_INO, &root.Statx_t); err != nil {
		return t, fmt.Errorf("read the root of process %d: %w", p.PID, err)
	}
	return Tree{namespace.Ino, root.device(), root.Ino}, nil
}
