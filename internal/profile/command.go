//go:build linux

package profile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// command is a command that is recorded.
type command struct {
	cmd      *exec.Cmd
	released bool
	done     chan error
}

// startStopped starts a command and stops it before its first instruction, so that nothing
// that it does is missed. The kernel lets the thread alone that started it release it: the
// caller's goroutine is wired to it until then.
func startStopped(o *Options) (*command, error) {
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.Stdin, o.Stdout, o.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	runtime.LockOSThread()
	if err := cmd.Start(); err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	c := &command{cmd: cmd, done: make(chan error, 1)}
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(cmd.Process.Pid, &status, 0, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			c.end()
			return nil, fmt.Errorf("wait for %s to start: %w", o.Command[0], err)
		}
	}
	if !status.Stopped() {
		c.end()
		return nil, fmt.Errorf("%s ended before it started", o.Command[0])
	}
	return c, nil
}

// release lets the command run.
func (c *command) release() error {
	err := unix.PtraceDetach(c.cmd.Process.Pid)
	c.released = true
	runtime.UnlockOSThread()
	go func() { c.done <- c.cmd.Wait() }()
	if err != nil {
		return fmt.Errorf("let %s run: %w", c.cmd.Path, err)
	}
	return nil
}

// wait waits until the command has ended, or ctx is done. In the end of one that is still
// running then, nothing is to be recorded.
func (c *command) wait(ctx context.Context) []bench.Note {
	var err error
	select {
	case err = <-c.done:
	case <-ctx.Done():
		return nil
	}
	c.done <- err // for end
	if err != nil {
		return []bench.Note{bench.Warn("%s ended with %v", c.cmd.Path, err)}
	}
	return nil
}

// stop asks the command to end, and kills it if it does not.
func (c *command) stop() {
	const patience = 2 * time.Second
	_ = c.cmd.Process.Signal(unix.SIGTERM) // it may have ended
	select {
	case err := <-c.done:
		c.done <- err
		return
	case <-time.After(patience):
	}
	_ = c.cmd.Process.Kill()
	c.done <- <-c.done
}

// end leaves nothing running.
func (c *command) end() {
	if !c.released {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		runtime.UnlockOSThread()
		return
	}
	select {
	case err := <-c.done:
		c.done <- err
	default:
		c.stop()
	}
}

// allProcesses returns the processes that run.
func allProcesses() (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
