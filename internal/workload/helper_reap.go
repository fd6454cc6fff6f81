package workload

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// waitFor reaps children until one of the pids has ended, and says how.
func waitFor(pids []int) (string, error) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return "", fmt.Errorf("wait: %w", err)
		case !slices.Contains(pids, pid):
		case status.Signaled():
			return fmt.Sprintf("signal: %s", status.Signal()), nil
		default:
			return fmt.Sprintf("exit status %d", status.ExitStatus()), nil
		}
	}
}

// killChildren kills and reaps this process's children until it has none.
// What they leave behind become its children in turn.
func killChildren() {
	for {
		children, _ := processes(func(s procStat) bool { return s.parent == os.Getpid() })
		for _, pid := range children {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		// One is waited for, and whatever else has ended by then is reaped
		// too: to look for children again after each would take for ever.
		for options := 0; ; options = unix.WNOHANG {
			pid, err := unix.Wait4(-1, nil, options, nil)
			if errors.Is(err, unix.ECHILD) {
				return
			}
			if pid == 0 {
				break
			}
		}
	}
}
