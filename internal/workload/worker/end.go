package worker

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// workerGrace is how long a closed worker may take to end what it has started,
// before it is killed.
const workerGrace = 300 * time.Millisecond

// Close ends the worker, even while it carries out an order.
func (w *Worker) Close() error {
	w.end()
	return w.results.Close()
}

// end ends the worker by closing its standard input. It kills a worker that
// does not look at that, or that a program has stopped.
func (w *Worker) end() {
	w.ended.Do(func() {
		_ = w.stdin.Close()
		_ = w.cmd.Process.Signal(unix.SIGCONT)
		late := time.AfterFunc(workerGrace, func() { _ = w.cmd.Process.Kill() })
		_ = w.cmd.Wait()
		late.Stop()
	})
}

// lost returns why the worker takes no orders or gives no answers: it has
// ended, or a system call for the conversation is refused.
func (w *Worker) lost(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("talk to the worker: %w", err)
	}
	return w.howItEnded()
}

// howItEnded returns the error of a worker that has ended by itself.
func (w *Worker) howItEnded() error {
	w.end()
	err := fmt.Errorf("the worker ended by itself: %s", w.cmd.ProcessState)
	if status, ok := w.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		err = fmt.Errorf("the worker was killed by signal %d (%s)", status.Signal(), unix.SignalName(status.Signal()))
	}
	if why := w.stderr.String(); why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return bench.WithHint(err, "see whether the program sends signals to the process that triggers it, or the machine has too little memory")
}

// stderrLimit is how many bytes a stderrHead keeps.
const stderrLimit = 4096

// stderrHead keeps the first line that is written to it: Go's runtime says
// there why it ends, before it says where.
type stderrHead struct{ buf []byte }

func (h *stderrHead) Write(p []byte) (int, error) {
	if n := stderrLimit - len(h.buf); n > 0 {
		h.buf = append(h.buf, p[:min(n, len(p))]...)
	}
	return len(p), nil
}

func (h *stderrHead) String() string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(h.buf), []byte("\n"))
	return string(line)
}
