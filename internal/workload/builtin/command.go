package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/process"
)

// onceCommand is a command that is run to its end again and again. Nothing that
// it starts outlives that run, nor the tool.
type onceCommand struct {
	path    string
	args    []string
	timeout time.Duration
}

// newCommand returns a function that runs a command once. The arguments are its
// time limit, and the command.
func newCommand(args []string) (once func() error, err error) {
	if len(args) < 2 {
		return nil, errors.New("missing the command")
	}
	timeout, err := time.ParseDuration(args[0])
	if err != nil {
		return nil, err
	}
	path, err := exec.LookPath(args[1])
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	// Processes that leave the command's group come to the worker when their
	// parent ends.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become a subreaper: %w", err)
	}
	go endWithTool()
	c := &onceCommand{path: path, args: args[1:], timeout: timeout}
	return c.run, nil
}

// endWithTool ends the worker and what it started as soon as the tool has
// ended, which closes the other end of standard input. The worker itself reads
// that only between orders.
func endWithTool() {
	for {
		hangup := []unix.PollFd{{Fd: int32(os.Stdin.Fd())}}
		if _, err := unix.Poll(hangup, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if hangup[0].Revents != 0 {
			process.KillChildren()
			os.Exit(1)
		}
	}
}

func (c *onceCommand) run() error {
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	var stderr process.StderrTail
	cmd := exec.CommandContext(ctx, c.path)
	cmd.Args, cmd.Stderr = c.args, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	// Processes that the command leaves behind may hold its standard error
	// open.
	cmd.WaitDelay = 100 * time.Millisecond
	err := cmd.Run()
	process.KillChildren()
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return nil
	case ctx.Err() != nil:
		err = fmt.Errorf("it took longer than %s", c.timeout)
	case cmd.Process == nil:
		err = process.NotStarted(c.path, err)
	}
	if tail := stderr.String(); tail != "" {
		err = fmt.Errorf("%w: %s", err, tail)
	}
	return fmt.Errorf("run %s: %w", c.args[0], err)
}
