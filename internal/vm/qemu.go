package vm

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const qemuName = "qemu-system-x86_64"

// qemu is a QEMU that was started. It ends with this process, and when it is
// killed, which needs no care: it holds nothing that anybody misses.
type qemu struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer // valid after wait
	ended  chan error
	// console and port are the ends of the guest's serial ports: the one that
	// its kernel prints to, and that of the frames.
	console, port *os.File
	monitor       *monitor
}

// kill ends QEMU. It may be called at any time.
func (q *qemu) kill() { _ = q.cmd.Process.Kill() }

// execute gives QEMU a command. One that takes no more commands is about to
// end anyway.
func (q *qemu) execute(command string) { _ = q.monitor.execute(command) }

// wait waits for the end of QEMU and returns how that was.
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

// cpuTime is how long QEMU has computed so far. However busy the host is, this
// only goes on while the guest does.
func (q *qemu) cpuTime() time.Duration {
	var ts unix.Timespec
	// The clock of a process, as clock_getcpuclockid(3) makes it up.
	if err := unix.ClockGettime(int32(^q.cmd.Process.Pid<<3|2), &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// complaint is the first that QEMU wrote to standard error, but for warnings.
func (q *qemu) complaint() string {
	for line := range strings.Lines(q.stderr.String()) {
		line = strings.TrimPrefix(strings.TrimSpace(line), qemuName+": ")
		if line != "" && !strings.HasPrefix(line, "warning: ") {
			return strings.TrimPrefix(line, "error: ")
		}
	}
	return ""
}

// killedBy is the signal that ended QEMU, or empty.
func killedBy(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return unix.SignalName(status.Signal())
		}
	}
	return ""
}
