// Package kernelfs reads the kernel's own file systems, and mounts new ones
// where nobody else sees them.
package kernelfs

import (
	"fmt"
	"io"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// Mount mounts a file system of the kernel nowhere: only the holder of the file
// descriptor has it, and it ends with that. It requires Linux 5.2.
func Mount(fs string) (int, error) {
	context, err := unix.Fsopen(fs, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("open file system %s: %w", fs, err)
	}
	defer unix.Close(context)
	if err := unix.FsconfigCreate(context); err != nil {
		return -1, fmt.Errorf("create file system %s: %w", fs, err)
	}
	fd, err := unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("mount file system %s: %w", fs, err)
	}
	return fd, nil
}

// usualMounts are the usual mount points of the kernel's file systems.
var usualMounts = map[string][]string{
	"tracefs":    {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"},
	"securityfs": {"/sys/kernel/security"},
}

// ReadFile reads a file of one of the kernel's file systems, such as tracefs,
// whether or not the machine has it mounted.
func ReadFile(fs, name string) ([]byte, error) {
	for _, dir := range usualMounts[fs] {
		if data, err := os.ReadFile(path.Join(dir, name)); err == nil {
			return data, nil
		}
	}
	mount, err := Mount(fs)
	if err != nil {
		return nil, err
	}
	defer unix.Close(mount)
	fd, err := unix.Openat(mount, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: fs + ":" + name, Err: err}
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	return io.ReadAll(f)
}
