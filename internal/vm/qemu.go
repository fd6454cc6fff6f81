package vm

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const qemuName = "qemu-system-x86_64"

// qemu is a running QEMU. It is killed when this process ends. Killing it is
// harmless: it holds nothing that anybody misses.
type qemu struct {
	cmd    *exec.Cmd
	stderr head // valid after wait
	ended  chan error
	// console and port are our ends of the guest's serial ports: console for
	// the output of its kernel, port for the frames.
	console, port *os.File
	monitor       *monitor
}

// kill ends QEMU, and everything that a script in its place has started. It may
// be called at any time.
func (q *qemu) kill() {
	if q.cmd.Process.Signal(unix.Signal(0)) == nil {
		_ = unix.Kill(-q.cmd.Process.Pid, unix.SIGKILL)
	}
}

// head keeps the beginning of what is written to it.
type head struct{ text []byte }

const maxHead = 64 << 10

func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), maxHead-len(h.text))]...)
	return len(p), nil
}

// execute sends QEMU a command. A QEMU that takes no more commands is about to
// end anyway.
func (q *qemu) execute(command string) { _ = q.monitor.execute(command) }

// wait waits for the end of QEMU and returns its error.
func (q *qemu) wait() error {
	err := <-q.ended
	q.close()
	return err
}

func (q *qemu) close() {
	for _, f := range []*os.File{q.console, q.port} {
		if f != nil {
			f.Close()
		}
	}
	if q.monitor != nil {
		q.monitor.Close()
	}
}

// cpuTime returns how long QEMU has computed so far. However busy the host is,
// this only advances while the guest does.
func (q *qemu) cpuTime() time.Duration {
	var ts unix.Timespec
	// The clock of a process, composed like clock_getcpuclockid(3) does.
	if err := unix.ClockGettime(int32(^q.cmd.Process.Pid<<3|2), &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// complaint returns the first line that QEMU wrote to standard error, except
// warnings.
func (q *qemu) complaint() string {
	for line := range strings.Lines(string(q.stderr.text)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), qemuName+": ")
		if line != "" && !strings.HasPrefix(line, "warning: ") {
			return strings.TrimPrefix(line, "error: ")
		}
	}
	return ""
}

// statusOf returns the exit status of QEMU, -1 if a signal ended it.
func statusOf(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// killedBy returns the signal that ended QEMU, or "".
func killedBy(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return unix.SignalName(status.Signal())
		}
	}
	return ""
}
