package workload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	// The arguments are the time that the command may take, and the command.
	tasks["run"] = func(args []string) (func(int) (int, error), error) {
		if len(args) < 2 {
			return nil, errors.New("missing the command")
		}
		timeout, err := time.ParseDuration(args[0])
		if err != nil {
			return nil, err
		}
		c := &onceCommand{path: args[1], args: args[1:], timeout: timeout}
		return repeat(c.run), c.prepare()
	}
}

// onceCommand is a command that is run to its end again and again. Nothing that
// it starts outlives that, nor the tool.
type onceCommand struct {
	path    string
	args    []string
	timeout time.Duration
}

func (c *onceCommand) prepare() error {
	path, err := exec.LookPath(c.path)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	c.path = path
	// What leaves the command's group comes to the worker when its parent ends.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become a subreaper: %w", err)
	}
	go endWithTool()
	return nil
}

// endWithTool ends the worker and what it started as soon as the tool has ended,
// which closes the other end of standard input: orders are read only in between.
func endWithTool() {
	for {
		hangup := []unix.PollFd{{Fd: int32(os.Stdin.Fd())}}
		if _, err := unix.Poll(hangup, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if hangup[0].Revents != 0 {
			killChildren()
			os.Exit(1)
		}
	}
}

func (c *onceCommand) run() error {
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	var stderr stderrTail
	cmd := exec.CommandContext(ctx, c.path)
	cmd.Args, cmd.Stderr = c.args, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	// What the command leaves behind may hold its standard error open.
	cmd.WaitDelay = 100 * time.Millisecond
	err := cmd.Run()
	killChildren()
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return nil
	case ctx.Err() != nil:
		err = fmt.Errorf("it took longer than %s", c.timeout)
	case cmd.Process == nil:
		err = notStarted(c.path, err)
	}
	if tail := stderr.String(); tail != "" {
		err = fmt.Errorf("%w: %s", err, tail)
	}
	return fmt.Errorf("run %s: %w", c.args[0], err)
}

// notStarted says why the kernel did not start the file of a command.
func notStarted(path string, err error) error {
	_, missing := os.Stat(path)
	switch {
	case errors.Is(err, unix.ENOENT) && missing == nil:
		return fmt.Errorf("what its #! line names, or its loader of libraries, is missing: %w", unix.ENOENT)
	case errors.Is(err, unix.ENOEXEC):
		return fmt.Errorf("it is no program of this machine, and no script that begins with #!: %w", unix.ENOEXEC)
	}
	return err
}
