package vm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/cavaliergopher/cpio"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/vm/guest"
)

// modulePath is the folder of the kernel's modules in the guest.
const modulePath = "/ebpf-bench/modules"

// reserved are the guest's own folders.
var reserved = []string{guest.InitPath, path.Dir(guest.ConfigPath), "/dev", "/proc", "/sys", "/tmp"}

// initramfs is the guest's file system. It is not compressed: the guest, which
// is slower than the host, would spend more time on unpacking than on copying.
type initramfs struct {
	w    *cpio.Writer
	dirs map[string]bool
}

// buildInitramfs writes the file system to memory. The file has no name, so it
// disappears when the last process that has it open ends.
func (c *Cmd) buildInitramfs(binary *os.File) (*os.File, error) {
	fd, err := unix.MemfdCreate("initramfs", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "initramfs")
	buf := bufio.NewWriterSize(f, 1<<20)
	err = c.writeInitramfs(buf, binary)
	if err == nil {
		err = buf.Flush()
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("build initramfs: %w", err)
	}
	return f, nil
}

// writeInitramfs always writes the same for the same command: the place of a
// file in the archive determines the layout of the guest's memory.
func (c *Cmd) writeInitramfs(w io.Writer, binary *os.File) error {
	a := &initramfs{w: cpio.NewWriter(w), dirs: map[string]bool{"/": true}}
	info, err := binary.Stat()
	if err != nil {
		return err
	}
	if err := a.file(guest.InitPath, info.Size(), binary); err != nil {
		return err
	}
	config := c.config()
	for i, m := range c.Modules {
		if err := a.data(config.Modules[i], m.Data); err != nil {
			return err
		}
	}
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	if err := a.data(guest.ConfigPath, text); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		if err := checkGuestPath(name); err != nil {
			return err
		}
		if err := a.data(name, c.Files[name]); err != nil {
			return err
		}
	}
	return a.w.Close()
}

// checkGuestPath refuses files that the guest would not see at their path.
func checkGuestPath(name string) error {
	if !path.IsAbs(name) || path.Clean(name) != name || name == "/" {
		return fmt.Errorf("file %q: it is not an absolute, clean path", name)
	}
	for _, dir := range reserved {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return fmt.Errorf("file %q: %s is the guest's own", name, dir)
		}
	}
	return nil
}

func (a *initramfs) data(name string, data []byte) error {
	return a.file(name, int64(len(data)), bytes.NewReader(data))
}

// file adds a file, and the folders above it.
func (a *initramfs) file(name string, size int64, r io.Reader) error {
	if err := a.dir(path.Dir(name)); err != nil {
		return err
	}
	// The kernel's own archive, which it unpacks before, has /dev/console.
	err := a.w.WriteHeader(&cpio.Header{Name: name[1:], Mode: cpio.TypeReg | 0o755, Size: size})
	if err != nil {
		return err
	}
	_, err = io.Copy(a.w, r)
	return err
}

func (a *initramfs) dir(name string) error {
	if a.dirs[name] {
		return nil
	}
	if err := a.dir(path.Dir(name)); err != nil {
		return err
	}
	a.dirs[name] = true
	return a.w.WriteHeader(&cpio.Header{Name: name[1:], Mode: cpio.TypeDir | 0o755})
}
