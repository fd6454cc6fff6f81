package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// runCommand runs the command to its end, and passes on its output.
func runCommand(config *Config, p *port) Exit {
	cmd := exec.Command(InitPath, config.Args...)
	cmd.Args[0] = "ebpf-bench"
	cmd.Env = config.Env
	cmd.Dir = config.Dir
	cmd.Stdout = &stream{p, FrameStdout}
	cmd.Stderr = &stream{p, FrameStderr}
	// Processes that the command left behind must not keep its output open.
	cmd.WaitDelay = time.Second
	reported, err := startCommand(cmd, config.TimerSlack, p)
	if err != nil {
		return Exit{Error: err.Error()}
	}
	err = cmd.Wait()
	_ = unix.Kill(-1, unix.SIGKILL) // all but this process, if there are any
	lost := <-reported
	e := exitOf(cmd.ProcessState, err)
	// If a failing command breaks off within a result, that adds nothing.
	if lost != nil && (e.Code == 0 || !errors.Is(lost, io.ErrUnexpectedEOF)) {
		e.Error = lost.Error()
	}
	return e
}

// startCommand starts the command with a pipe for its results. Once that is
// closed, it sends on reported why not all of them could be passed on, or nil.
func startCommand(cmd *exec.Cmd, slack uint64, p *port) (reported <-chan error, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	cmd.ExtraFiles = []*os.File{w} // becomes resultsFD

	// The command inherits the slack of the thread that forks it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if slack > 0 {
		if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0); err != nil {
			return nil, fmt.Errorf("set timer slack: %w", err)
		}
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// When memory runs out, the kernel should kill the command.
	score := []byte(strconv.Itoa(900))
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", cmd.Process.Pid), score, 0); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- sendResults(r, p) }()
	return done, nil
}

// sendResults sends each value that the command reports as a result. It closes
// the pipe, so that a command whose results are refused does not wait forever.
func sendResults(r io.ReadCloser, p *port) error {
	defer r.Close()
	for values := json.NewDecoder(r); ; {
		var value json.RawMessage
		switch err := values.Decode(&value); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read results: %w", err)
		}
		if err := p.send(FrameResult, value); err != nil {
			return err
		}
	}
}

// exitOf returns how the command ended.
func exitOf(state *os.ProcessState, waited error) Exit {
	var failed *exec.ExitError
	if waited != nil && !errors.As(waited, &failed) && !errors.Is(waited, exec.ErrWaitDelay) {
		return Exit{Error: waited.Error()}
	}
	e := Exit{Code: state.ExitCode(), OOMKills: oomKills()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal().String()
	}
	return e
}

// stream is an output of the command.
type stream struct {
	port *port
	typ  FrameType
}

func (s *stream) Write(b []byte) (int, error) {
	return len(b), s.port.send(s.typ, b)
}
