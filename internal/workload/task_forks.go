package workload

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// starting are the system calls that a load makes by starting a process, which
// executes a program that ends at once, and by waiting for it.
var starting = []string{"fork", "vfork", "clone", "clone3", "execve", "execveat", "exit", "exit_group"}

func init() {
	tasks["forks"] = func([]string) (func(int) (int, error), error) {
		if _, err := newScene(); err != nil {
			return nil, err
		}
		return repeat(startExit), nil
	}
}

// startExit starts the scene's program that does nothing but end, and waits for
// its end.
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
