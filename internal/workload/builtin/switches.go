package builtin

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/process"
)

const echoMode = "echo"

func init() {
	process.RegisterHelper(echoMode, func([]string) error { echo(); return nil })
}

// echo sends back each byte that it gets, until there are no more. Its one
// thread sleeps in between, and nothing else in it runs.
func echo() {
	m, err := unix.Mmap(-1, 0, unix.Getpagesize(), readWrite, private)
	if err != nil {
		return
	}
	s := &scene{memory: m}
	for raw(unix.SYS_READ, 0, s.data(), 1) == 1 {
		raw(unix.SYS_WRITE, 1, s.data(), 1)
	}
}

// newSwitcher returns a function that gives the CPU to another process and gets
// it back. That process ends with this one.
func newSwitcher([]string) (swap func() error, err error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	back, theirBack, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := process.HelperCommand(echoMode)
	cmd.Stdin, cmd.Stdout = theirs, theirBack
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the other process: %w", err)
	}
	theirs.Close()
	theirBack.Close()
	m, err := unix.Mmap(-1, 0, unix.Getpagesize(), readWrite, private)
	if err != nil {
		return nil, err
	}
	s := &scene{memory: m}
	// Fd makes the descriptors blocking, as the calls past Go's scheduler need.
	out, in := ours.Fd(), back.Fd()
	return func() error {
		raw(unix.SYS_WRITE, out, s.data(), 1)
		if raw(unix.SYS_READ, in, s.data(), 1) != 1 {
			return fmt.Errorf("the other process has ended")
		}
		return nil
	}, nil
}
