package builtin

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// faultPages is how many pages the load of page faults touches before it
// returns them.
const faultPages = 64

// newToucher returns a function that touches one page of memory that is not
// mapped in yet.
func newToucher([]string) (touch func() error, err error) {
	page := unix.Getpagesize()
	memory, err := unix.Mmap(-1, 0, faultPages*page, readWrite, private)
	if err != nil {
		return nil, fmt.Errorf("map memory: %w", err)
	}
	// One fault would map a whole huge page. A kernel without them refuses.
	_ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE)
	at, size := uintptr(unsafe.Pointer(&memory[0])), uintptr(len(memory))
	next := 0
	return func() error {
		memory[next*page] = 1
		if next++; next == faultPages {
			raw(unix.SYS_MADVISE, at, size, unix.MADV_DONTNEED)
			next = 0
		}
		return nil
	}, nil
}

// newSignaller returns a function that sends the thread a signal, which has a
// handler.
func newSignaller([]string) (send func() error, err error) {
	// The delivery is the same even if nobody receives from the channel.
	signal.Notify(make(chan os.Signal, 1), unix.SIGUSR1)
	pid, tid := uintptr(unix.Getpid()), uintptr(unix.Gettid())
	return func() error { raw(unix.SYS_TGKILL, pid, tid, uintptr(unix.SIGUSR1)); return nil }, nil
}

// starting are the system calls that a load makes by starting a process, which
// executes a program that ends at once, and waiting for it.
var starting = []string{"fork", "vfork", "clone", "clone3", "execve", "execveat", "exit", "exit_group"}

// newForker returns a function that starts a process and waits for its end.
func newForker([]string) (once func() error, err error) {
	_, err = newScene()
	return startExit, err
}

// startExit starts the scene's program that only exits, and waits for its end.
func startExit() error {
	pid, err := syscall.ForkExec("exit", []string{"exit"}, &syscall.ProcAttr{Env: []string{}})
	if err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	if failed(raw(unix.SYS_WAIT4, uintptr(pid), 0, 0, 0)) {
		return os.NewSyscallError("wait4", unix.ECHILD)
	}
	return nil
}
