package guard

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Cgroup is a cgroup of version 2, for workers to start in. A helper makes its
// folder and removes it however the tool ends.
type Cgroup struct {
	// Folder is open as long as the Cgroup is.
	Folder *os.File
	helper *helper
}

// NewCgroup makes a cgroup below the highest one that this process can see. It
// needs no mounted hierarchy, and controls no resources.
func NewCgroup() (*Cgroup, error) {
	top, err := openHierarchy()
	if err != nil {
		return nil, bench.WithHint(fmt.Errorf("open the hierarchy of cgroup v2: %w", err), "this takes root, and a kernel with CONFIG_CGROUPS")
	}
	defer top.Close()
	c, err := makeCgroup(top, "ebpf-bench-"+strings.ToLower(rand.Text()[:12]))
	if err != nil {
		return nil, fmt.Errorf("make a cgroup: %w", err)
	}
	return c, nil
}

func makeCgroup(top *os.File, name string) (*Cgroup, error) {
	c := &Cgroup{helper: newHelper(holdCgroupMode, name)}
	c.helper.ExtraFiles = []*os.File{top}
	made, err := c.helper.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.helper.start(); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(made, make([]byte, 1)); err != nil {
		return nil, c.Close()
	}
	fd, err := unix.Openat(int(top.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.Folder = os.NewFile(uintptr(fd), "/sys/fs/cgroup/"+name)
	return c, nil
}

// Path returns the folder's path, valid while it is open. It need not be
// mounted.
func (c *Cgroup) Path() string { return fmt.Sprintf("/proc/self/fd/%d", c.Folder.Fd()) }

// Close removes the cgroup, and kills the processes in it.
func (c *Cgroup) Close() error {
	if c.Folder != nil {
		c.Folder.Close()
	}
	if err := c.helper.end(); err != nil {
		return fmt.Errorf("helper of the cgroup: %w", err)
	}
	return nil
}

// openHierarchy opens the folder of the highest cgroup, in a mount that no
// namespace has (Linux 5.2), or else in an existing one.
func openHierarchy() (*os.File, error) {
	f, err := mountHierarchy()
	if err == nil {
		return f, nil
	}
	mounts, readErr := os.ReadFile("/proc/self/mountinfo")
	if readErr != nil {
		return nil, err
	}
	for _, folder := range hierarchiesIn(string(mounts)) {
		return os.Open(folder)
	}
	return nil, err
}

// hierarchiesIn finds the mounted hierarchies in a text in the form of
// /proc/self/mountinfo.
func hierarchiesIn(mounts string) (folders []string) {
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		if fields := strings.Fields(before); strings.HasPrefix(after, "cgroup2 ") && len(fields) > 4 {
			folders = append(folders, fields[4])
		}
	}
	return folders
}

// mountHierarchy returns a folder that is only good for finding others.
func mountHierarchy() (*os.File, error) {
	context, err := unix.Fsopen("cgroup2", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	defer unix.Close(context)
	if err := unix.FsconfigCreate(context); err != nil {
		return nil, err
	}
	fd, err := unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "cgroup2"), nil
}
