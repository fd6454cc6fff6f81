package perf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/process"
)

const superviseMode = "supervise"

func init() { process.RegisterHelper(superviseMode, supervise) }

const (
	// reportFD is where a supervisor writes its reports.
	reportFD = 3
	// readyFD is the file that a spinner closes when it is ready.
	readyFD = 3
)

// report is a supervisor's report to the tool: first the group that it started,
// then why that ended.
type report struct {
	Group int    `json:"group,omitempty"`
	Ended string `json:"ended,omitempty"`
}

// supervise starts a number of copies of a command, or of a spinner, in one
// process group. As soon as one of them or the tool ends, it kills the whole
// group, and everything that its processes have started outside of it.
//
// The tool holds the other end of standard input, which the kernel closes
// however the tool ends. Asking the kernel for a signal instead would kill the
// supervisor's child and leave the grandchildren.
func supervise(args []string) error {
	if len(args) == 0 {
		return errors.New("missing the number of copies")
	}
	copies, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	unix.CloseOnExec(reportFD)
	reports := json.NewEncoder(os.NewFile(reportFD, "reports"))

	// A signal to the tool's process tree must not keep the supervisor from its
	// work. Ignoring it would make the command ignore it, too.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGTERM)
	// Orphans come to the supervisor, so that it finds them.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become a subreaper: %w", err)
	}
	defer process.KillChildren()

	pids, err := startGroup(copies, args[1:])
	if err != nil {
		return reports.Encode(report{Ended: err.Error()})
	}
	group := pids[0]
	_ = reports.Encode(report{Group: group}) // if this fails, the tool has ended

	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = unix.Kill(-group, unix.SIGKILL)
	}()
	status, err := waitFor(pids)
	if err != nil {
		return err
	}
	_ = unix.Kill(-group, unix.SIGKILL)
	_ = reports.Encode(report{Ended: status})
	return nil
}

// startGroup starts the copies in a new process group and waits until the
// spinners among them spin.
func startGroup(copies int, command []string) ([]int, error) {
	ready, readyWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ready.Close()
	defer readyWrite.Close()

	var pids []int
	for range copies {
		var cmd *exec.Cmd
		if len(command) > 0 {
			cmd = exec.Command(command[0], command[1:]...)
		} else {
			cmd = spinCommand()
			cmd.ExtraFiles = []*os.File{readyWrite}
		}
		cmd.Stderr = os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
		if len(pids) > 0 {
			cmd.SysProcAttr.Pgid = pids[0]
		}
		if err := cmd.Start(); err != nil {
			return nil, process.NotStarted(cmd.Path, err)
		}
		pids = append(pids, cmd.Process.Pid)
	}
	readyWrite.Close()
	_, _ = io.Copy(io.Discard, ready)
	return pids, nil
}

// waitFor reaps children until one of the pids has ended, and returns how.
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
