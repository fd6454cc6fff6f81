// Package inplace runs a command in a folder that it sees at the path of another, so that a
// compiler finds two versions of its sources at the same paths. What the command leaves
// running ends with it: a build server would go on with the files that it saw.
package inplace

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/process"
)

// Command is a command and where it runs: in a mount namespace of its own, where the folder
// From is mounted at At, or without From in that of this process.
type Command struct {
	Args, Env []string
	// Dir is its working directory, as it is seen there.
	Dir      string
	From, At string
	// Exchange moves instead of mounting: the two folders change their places for everyone
	// until the command ends. That takes no privileges, and both on one file system.
	Exchange bool
	// Stdout and Stderr receive the output.
	Stdout, Stderr io.Writer
}

// ErrDisplaced says that a folder that was exchanged is not back in its place.
var ErrDisplaced = errors.New("it was exchanged and is not back in its place")

const mode = "inplace"

// patience is how long Run waits for the output of processes that the command left behind and
// that the helper may not end.
const patience = 5 * time.Second

func init() { process.RegisterHelper(mode, help) }

// request is what the helper, which is root, is asked to do: to run a command as the user
// who asks.
type request struct {
	Args, Env     []string
	Dir, From, At string
	Exchange      bool
	UID, GID      uint32
	Groups        []uint32
}

// Run runs the command as the user that this process has, and ends it with the context. A
// process that is not root needs sudo to mount. The error is as from [exec.Cmd.Run], also if
// From cannot be at At. If what was exchanged could not be put back, it is ErrDisplaced, too.
func (c *Command) Run(ctx context.Context) error {
	if !c.Exchange {
		return c.run(ctx)
	}
	own, err := os.Stat(c.At)
	if err != nil {
		return err
	}
	err = c.run(ctx)
	return errors.Join(err, c.putBack(own))
}

// putBack puts the folder own back at At, should the helper have been killed, or the command
// have moved what was there.
func (c *Command) putBack(own os.FileInfo) error {
	is := func(path string) (bool, error) {
		now, err := os.Stat(path)
		return err == nil && os.SameFile(own, now), err
	}
	there, missing := is(c.At)
	if there {
		return nil
	}
	if moved, _ := is(c.From); !moved {
		return fmt.Errorf("%s: %w", c.At, ErrDisplaced)
	}
	flags := uint(unix.RENAME_EXCHANGE)
	if errors.Is(missing, os.ErrNotExist) {
		flags = unix.RENAME_NOREPLACE
	}
	if err := unix.Renameat2(unix.AT_FDCWD, c.From, unix.AT_FDCWD, c.At, flags); err != nil {
		return fmt.Errorf("%s: %w, but at %s: %w", c.At, ErrDisplaced, c.From, err)
	}
	return nil
}

func (c *Command) run(ctx context.Context) error {
	groups, err := os.Getgroups()
	if err != nil {
		return err
	}
	r := request{
		Args: c.Args, Env: c.Env, Dir: c.Dir, From: c.From, At: c.At, Exchange: c.Exchange,
		UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()),
	}
	for _, g := range groups {
		r.Groups = append(r.Groups, uint32(g))
	}
	cmd := process.HelperCommand(mode)
	if r.mounts() {
		if cmd, err = process.RootHelper(mode); err != nil {
			return err
		}
	}
	// The helper ends the command when this end of its input closes.
	input, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ours.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = input, c.Stdout, c.Stderr, patience
	err = cmd.Start()
	input.Close()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { ours.Close() })()
	if err := gob.NewEncoder(ours).Encode(r); err != nil {
		ours.Close()
		return errors.Join(err, cmd.Wait())
	}
	if err = cmd.Wait(); errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return errors.Join(ctx.Err(), err)
}

// help is the helper.
func help([]string) error {
	var r request
	if err := gob.NewDecoder(os.Stdin).Decode(&r); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	// Signals for its process group are for the process that closes its input.
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	// What leaves the command's group comes to the helper when its parent ends.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become a subreaper: %w", err)
	}
	var err error
	switch {
	case r.mounts():
		err = r.mount()
	case r.Exchange:
		err = r.exchange()
	}
	if err != nil {
		return err
	}
	code, err := r.run()
	process.KillChildren()
	if r.Exchange {
		err = errors.Join(err, r.exchange())
	}
	if err == nil {
		os.Exit(code)
	}
	return err
}

func (r *request) mounts() bool { return r.From != "" && !r.Exchange }

func (r *request) mount() error {
	// The main goroutine of a helper keeps its thread.
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make a mount namespace: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make the mounts private: %w", err)
	}
	if err := unix.Mount(r.From, r.At, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("mount %s at %s: %w", r.From, r.At, err)
	}
	return nil
}

func (r *request) exchange() error {
	if err := unix.Renameat2(unix.AT_FDCWD, r.From, unix.AT_FDCWD, r.At, unix.RENAME_EXCHANGE); err != nil {
		return fmt.Errorf("exchange %s and %s: %w", r.From, r.At, err)
	}
	return nil
}

// run runs the command and returns its exit code, as a shell would.
func (r *request) run() (int, error) {
	os.Clearenv()
	for _, entry := range r.Env {
		name, value, _ := strings.Cut(entry, "=")
		os.Setenv(name, value)
	}
	cmd := exec.Command(r.Args[0], r.Args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.Dir, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if r.UID != uint32(os.Geteuid()) {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: r.UID, Gid: r.GID, Groups: r.Groups}
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
	}()
	err := cmd.Wait()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
		return ended.ExitCode(), nil
	}
	return 0, err
}
