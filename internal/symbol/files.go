package symbol

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// root is a file system: that of this process if the folder is nil, else that of a
// container, below the folder. It takes Linux 5.6.
type root struct{ dir *os.File }

// open opens a regular file. Links lead nowhere outside the root. Nothing else is
// opened: to open a device can do something, and to open a pipe can wait.
func (r root) open(name string) (*os.File, error) {
	fd, how := unix.AT_FDCWD, unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC}
	if r.dir != nil {
		fd, how.Resolve = int(r.dir.Fd()), unix.RESOLVE_IN_ROOT|unix.RESOLVE_NO_MAGICLINKS
	}
	at, err := unix.Openat2(fd, name, &how)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(at)
	var stat unix.Stat_t
	if err := unix.Fstat(at, &stat); err != nil {
		return nil, &os.PathError{Op: "stat", Path: name, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, &os.PathError{Op: "open", Path: name, Err: errors.New("it is not a regular file")}
	}
	f, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", at))
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: errors.Unwrap(err)}
	}
	return f, nil
}

// debugDir is where distributions install debug information, as gdb has it (Separate
// Debug Files, in its manual).
const debugDir = "/usr/lib/debug"

// debugFile opens an ELF file of its own with the debug information, or with the
// symbols, of a file at a path. It returns an error if there is none.
func debugFile(m image, path string) (*os.File, image, string, error) {
	if path, file, found := byBuildID(m.buildID()); file != nil {
		return file, found, path, nil
	}
	link, _ := m.data(".gnu_debuglink")
	name, rest, ok := strings.Cut(string(link), "\x00")
	// The sum begins where the next multiple of four does.
	if at := (len(name) + 4) &^ 3; ok && name != "" && path != "" && !strings.Contains(name, "/") && len(link) >= at+4 && rest != "" {
		sum := m.ByteOrder.Uint32(link[at:])
		dir := path[:strings.LastIndexByte(path, '/')+1]
		for _, candidate := range []string{dir + name, dir + ".debug/" + name, debugDir + "/" + strings.TrimPrefix(dir, "/") + name} {
			if file, found := open(candidate, func(f *os.File, _ image) bool { return sumOf(f) == sum }); file != nil {
				return file, found, candidate, nil
			}
		}
	}
	return nil, image{}, "", errors.New("there is no file with debug information")
}

// altFile opens the file that a file with debug information at a path shares part of it
// with: that of dwz, or of DWARF 5.
func altFile(m image, path string) (*os.File, image, error) {
	link, err := m.data(".gnu_debugaltlink")
	if link == nil {
		return nil, image{}, err
	}
	name, id, _ := strings.Cut(string(link), "\x00")
	buildID := fmt.Sprintf("%x", id)
	if name != "" && !strings.HasPrefix(name, "/") {
		name = path[:strings.LastIndexByte(path, '/')+1] + name
	}
	if file, found := open(name, func(_ *os.File, m image) bool { return m.buildID() == buildID }); file != nil {
		return file, found, nil
	}
	if _, file, found := byBuildID(buildID); file != nil {
		return file, found, nil
	}
	return nil, image{}, fmt.Errorf("no file %s with build ID %s", name, buildID)
}

func byBuildID(id string) (string, *os.File, image) {
	if len(id) < 4 {
		return "", nil, image{}
	}
	path := debugDir + "/.build-id/" + id[:2] + "/" + id[2:] + ".debug"
	if file, m := open(path, func(_ *os.File, m image) bool { return m.buildID() == id }); file != nil {
		return path, file, m
	}
	return "", nil, image{}
}

// open opens an ELF file if it is the one that is looked for, else it returns nil.
func open(path string, is func(*os.File, image) bool) (*os.File, image) {
	f, err := root{}.open(path)
	if err != nil {
		return nil, image{}
	}
	m, err := newImage(f)
	if err != nil || !is(f, m) {
		f.Close()
		return nil, image{}
	}
	return f, m
}

// sumOf returns the CRC of a file that .gnu_debuglink has (Separate Debug Files, in the
// manual of gdb).
func sumOf(f *os.File) uint32 {
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, 1<<62)); err != nil {
		return 0
	}
	return sum.Sum32()
}
