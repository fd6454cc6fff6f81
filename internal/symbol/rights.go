package symbol

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nobody is a user and a group that nothing belongs to: the last number but one. The last is
// none (INVALID_UID in linux/uidgid.h), and files of another user namespace, or of NFS, belong
// to the one that is called nobody.
const nobody = 1<<32 - 2

// become reduces the rights of this thread to those of a user in some groups. For root they stay
// those of this process.
func become(user uint32, groups []uint32) error {
	if user == 0 {
		return nil
	}
	if user != uint32(os.Geteuid()) {
		if err := setGroups(groups); err != nil {
			return fmt.Errorf("change groups: %w", err)
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

// setGroups sets those of this thread alone, unlike that of the standard library.
func setGroups(groups []uint32) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(unsafe.SliceData(groups))), 0); errno != 0 {
		return errno
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

// entry is a file or a folder that is open, as a path or for reading, and what is known of it
// without asking a server for it.
type entry struct {
	fd int
	unix.Statx_t
}

// inspect describes an open file. Minimum kernel: 5.8, for its mount.
func inspect(fd int) (entry, error) {
	e := entry{fd: fd}
	const what = unix.STATX_TYPE | unix.STATX_MODE | unix.STATX_UID | unix.STATX_GID | unix.STATX_MNT_ID
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, what, &e.Statx_t)
	if err == nil && e.Mask&unix.STATX_MNT_ID == 0 {
		err = errors.New("the kernel does not say where it is mounted")
	}
	return e, err
}

func (e entry) is(kind uint16) bool { return e.Mode&unix.S_IFMT == kind }

// isShared reports whether others than the owner may write to it. With an access control list,
// the rights of the group are the most that the list grants to anybody.
func (e entry) isShared(root *Root) bool {
	switch {
	case e.Mode&unix.S_IWOTH != 0:
		return true
	case e.Mode&unix.S_IWGRP == 0:
		return false
	case e.Gid != e.Uid || root != nil || e.hasList():
		return true
	}
	users, err := os.ReadFile("/etc/passwd")
	groups, err2 := os.ReadFile("/etc/group")
	return err != nil || err2 != nil || !isPrivate(e.Gid, string(users), string(groups))
}

// isPrivate reports whether a group is that of the user of the same number alone, as
// distributions make one for each user. It is not if a directory service knows it.
func isPrivate(id uint32, passwd, group string) bool {
	number := strconv.FormatUint(uint64(id), 10)
	users, groups := linesWith(passwd, 3, number), linesWith(group, 2, number)
	if len(users) != 1 || len(groups) != 1 || users[0][2] != number || len(groups[0]) < 4 {
		return false
	}
	members := groups[0][3]
	return members == "" || members == users[0][0]
}

// linesWith returns the fields of the lines that have a value, as passwd(5) and group(5)
// describe them.
func linesWith(text string, field int, value string) (found [][]string) {
	for line := range strings.Lines(text) {
		if fields := strings.Split(strings.TrimSuffix(line, "\n"), ":"); len(fields) > field && fields[field] == value {
			found = append(found, fields)
		}
	}
	return found
}

// mayDeny reports whether a file grants everybody what it may deny to a group that the user is
// in: by its mode, or by an access control list.
func (e entry) mayDeny(user uint32, group, other uint16) bool {
	return user != 0 && user != e.Uid && e.Mode&other != 0 && (e.Mode&group == 0 || e.hasList())
}

// hasList reports whether a file has an access control list, as acl(5) describes it.
func (e entry) hasList() bool {
	_, err := unix.Getxattr(inProc(e.fd), "system.posix_acl_access", nil)
	return !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.EOPNOTSUPP)
}

// inProc returns the path of an open file. That leads to it also if it is open as a path, and
// was deleted.
func inProc(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }
