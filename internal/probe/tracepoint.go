package probe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// haveTracepoint attaches by the perf event itself. Package link looks for
// tracefs only once, and only where it is mounted.
func haveTracepoint() error {
	id, err := tracepointID(tracepointGroup, tracepointName)
	if err != nil {
		return err
	}
	attach := func(prog *ebpf.Program) (io.Closer, error) {
		fd, err := openPerfEvent(unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id})
		if err != nil {
			return nil, err
		}
		event := os.NewFile(uintptr(fd), tracepointName)
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, prog.FD()); err != nil {
			event.Close()
			return nil, lackingIf(fmt.Errorf("attach to %s: %w", tracepointName, err), unix.EOPNOTSUPP, unix.EINVAL)
		}
		return event, nil
	}
	return fires(ebpf.ProgramSpec{Type: ebpf.TracePoint}, attach, renameThread)
}

// tracepointID returns the number by which perf knows a tracepoint.
func tracepointID(group, name string) (uint64, error) {
	tracefs, err := openTracefs()
	if err != nil {
		return 0, err
	}
	defer tracefs.Close()

	text, err := readAt(tracefs, path.Join("events", group, name, "id"))
	if err != nil {
		return 0, lackingIf(fmt.Errorf("tracepoint %s: %w", name, err), os.ErrNotExist)
	}
	return strconv.ParseUint(strings.TrimSpace(text), 10, 64)
}

// openTracefs opens its root: at its mount point, or else in a mount that
// nobody sees and that ends with the descriptor.
func openTracefs() (*os.File, error) {
	for _, dir := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		mounted, err := isMounted(dir, unix.TRACEFS_MAGIC)
		if err != nil {
			return nil, err
		}
		if mounted {
			return os.Open(dir)
		}
	}
	mount, err := detachedMount("tracefs")
	if err != nil {
		return nil, fmt.Errorf("tracefs is not mounted, and cannot be: %w", err)
	}
	return mount, nil
}

// detachedMount mounts a file system nowhere.
func detachedMount(filesystem string) (*os.File, error) {
	fs, err := unix.Fsopen(filesystem, unix.FSOPEN_CLOEXEC)
	if errors.Is(err, unix.ENODEV) {
		return nil, lacking("this kernel has no %s", filesystem)
	}
	if err != nil { // before Linux 5.2 it takes a place to mount at
		return nil, lackingIf(fmt.Errorf("open %s: %w", filesystem, err), unix.ENOSYS)
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return nil, fmt.Errorf("create %s: %w", filesystem, err)
	}
	mount, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("mount %s: %w", filesystem, err)
	}
	return os.NewFile(uintptr(mount), filesystem), nil
}

// readAt reads a file below an open directory.
func readAt(dir *os.File, name string) (string, error) {
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	text, err := io.ReadAll(f)
	return string(text), err
}
