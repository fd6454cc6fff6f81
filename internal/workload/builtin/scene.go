package builtin

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/kernelfs"
)

// scene is what the calls of a load act on, so that they change nothing else: a
// separate file system in memory, which is mounted nowhere and is the worker's
// folder, a file in it, and memory that the kernel reads and writes. All of it
// ends with the worker.
type scene struct {
	// memory is separate pages: memory that is passed to the kernel by address
	// must neither move nor be freed.
	memory []byte
	used   int
	// file is a file of one page, pipe an empty one, epoll one without events.
	file, read, write, epoll uintptr
	net                      *loopback // nil until it is asked for
}

const (
	sceneMemory = 64 << 10
	// sceneFile is the size of the file, and of what is read and written.
	sceneFile = 4096
)

// newScene sets the scene. It requires Linux 5.2, for file systems without a
// mount point.
func newScene() (*scene, error) {
	memory, err := unix.Mmap(-1, 0, sceneMemory, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("map memory: %w", err)
	}
	s := &scene{memory: memory, used: 2 * sceneFile} // the first pages are for data
	if err := enterMemoryFS(); err != nil {
		return nil, err
	}
	if err := os.WriteFile("file", make([]byte, sceneFile), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile("exit", exitProgram(), 0o700); err != nil {
		return nil, err
	}
	if err := os.Symlink("file", "symlink"); err != nil {
		return nil, err
	}
	file, err := unix.Open("file", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open a file in memory: %w", err)
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make an epoll: %w", err)
	}
	s.file, s.read, s.write, s.epoll = uintptr(file), uintptr(pipe[0]), uintptr(pipe[1]), uintptr(epoll)
	return s, nil
}

// enterMemoryFS makes the root of a new tmpfs, which is mounted nowhere, the
// process's folder.
func enterMemoryFS() error {
	fd, err := kernelfs.Mount("tmpfs")
	if err != nil {
		return fmt.Errorf("make a file system in memory: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Fchdir(fd); err != nil {
		return fmt.Errorf("enter a file system in memory: %w", err)
	}
	return nil
}

// data returns the address of sceneFile bytes of memory to read and write.
func (s *scene) data() uintptr { return s.address(0) }

// other returns the address of as much memory next to it.
func (s *scene) other() uintptr { return s.address(sceneFile) }

func (s *scene) address(offset int) uintptr { return uintptr(unsafe.Pointer(&s.memory[offset])) }

// put copies bytes to an address that stays valid for the worker's life.
func (s *scene) put(b []byte) uintptr {
	at := s.used
	copy(s.memory[at:], b)
	s.used += (len(b) + 15) &^ 15
	return s.address(at)
}

// int32 returns a number in the data.
func (s *scene) int32(index int) int32 {
	return int32(binary.NativeEndian.Uint32(s.memory[4*index:]))
}

// text returns the address of a text in C's form.
func (s *scene) text(t string) uintptr { return s.put(append([]byte(t), 0)) }

// words returns the address of 64-bit numbers.
func (s *scene) words(all ...uint64) uintptr {
	var b []byte
	for _, w := range all {
		b = binary.NativeEndian.AppendUint64(b, w)
	}
	return s.put(b)
}

// raw makes a system call, past Go's scheduler. The kernel may well refuse the
// arguments of a load: the call was made all the same.
func raw(nr uintptr, args ...uintptr) uintptr {
	var a [6]uintptr
	copy(a[:], args)
	result, _, errno := unix.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return ^uintptr(0)
	}
	return result
}

func failed(result uintptr) bool { return result == ^uintptr(0) }

func closeFD(fd uintptr) { raw(unix.SYS_CLOSE, fd) }
