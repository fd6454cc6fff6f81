package vm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
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

// The files that QEMU inherits, by their numbers there.
const (
	initramfsFD = 3 + iota
	consoleFD
	portFD
	monitorFD
)

func inherited(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// startQEMU checks all that the guest is made of, and starts it.
func (c *Cmd) startQEMU() (*qemu, error) {
	path, err := exec.LookPath(qemuName)
	if err != nil {
		return nil, &Fault{
			Kind:   ErrNoQEMU,
			Reason: fmt.Sprintf("there is no %s in $PATH", qemuName),
			Hint:   "Install it: apt-get install --no-install-recommends qemu-system-x86, or dnf install qemu-system-x86-core.",
		}
	}
	if c.Mode == KVM {
		if err := checkKVM(); err != nil {
			return nil, err
		}
	}
	end, err := checkImage(c.Image)
	if err != nil {
		return nil, err
	}
	binary, err := openBinary(c.Path)
	if err != nil {
		return nil, err
	}
	defer binary.Close()
	initramfs, err := c.buildInitramfs(binary)
	if err != nil {
		return nil, err
	}
	defer initramfs.Close()
	if err := c.checkMemory(end, initramfs); err != nil {
		return nil, err
	}

	q := &qemu{cmd: exec.Command(path, c.qemuArgs()...), ended: make(chan error, 1)}
	if err := q.start(initramfs); err != nil {
		return nil, &Fault{Kind: ErrQEMU, Reason: err.Error()}
	}
	return q, nil
}

// checkMemory refuses a guest that could not even unpack its files: what would
// become of it depends on the kernel, and most say nothing.
func (c *Cmd) checkMemory(kernelEnd uint64, initramfs *os.File) error {
	info, err := initramfs.Stat()
	if err != nil {
		return err
	}
	// The archive is there beside what comes out of it.
	need := (kernelEnd+2*uint64(info.Size()))>>20 + 1
	if uint64(c.memory()) >= need {
		return nil
	}
	return tooLittleMemory(c.memory(), fmt.Sprintf("and its kernel and files alone take %d", need))
}

// checkKVM finds out in time what QEMU would only say in its own words.
func checkKVM() error {
	f, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil {
		return &Fault{Kind: ErrKVM, Reason: err.Error()}
	}
	return f.Close()
}

func (c *Cmd) qemuArgs() []string {
	return append(machineArgs(c.Mode, c.memory()),
		"-kernel", c.Image,
		"-initrd", inherited(initramfsFD),
		"-append", strings.Join(kernelArgs(c.Mode), " "),
		// The first serial port is the console, the second one the frames'.
		// Others are faster, but a virtio port has the host interrupt the
		// guest whenever it likes.
		"-chardev", "file,id=console,path="+inherited(consoleFD), "-serial", "chardev:console",
		"-chardev", "file,id=port,path="+inherited(portFD), "-serial", "chardev:port",
		"-chardev", fmt.Sprintf("socket,id=monitor,fd=%d", monitorFD), "-mon", "chardev=monitor,mode=control",
	)
}

// start starts QEMU with the files that it inherits.
func (q *qemu) start(initramfs *os.File) (err error) {
	var ends []*os.File // QEMU's
	defer func() {
		for _, f := range ends {
			f.Close()
		}
		if err != nil {
			q.close()
		}
	}()
	for _, mine := range []**os.File{&q.console, &q.port} {
		r, w, err := serialPipe()
		if err != nil {
			return err
		}
		*mine, ends = r, append(ends, w)
	}
	mon, theirs, err := newMonitor()
	if err != nil {
		return err
	}
	q.monitor, ends = mon, append(ends, theirs)

	q.cmd.ExtraFiles = append([]*os.File{initramfs}, ends...)
	q.cmd.Stderr = &q.stderr
	q.cmd.SysProcAttr = &syscall.SysProcAttr{
		// QEMU would end by itself on Ctrl-C, and look like it had failed.
		Setpgid:   true,
		Pdeathsig: unix.SIGKILL,
	}
	return q.startTied()
}

// serialPipe is what QEMU writes the characters of a serial port to.
func serialPipe() (r, w *os.File, err error) {
	if r, w, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	// QEMU makes the port busy while the pipe is full, for as long as this
	// process takes: time that the guest must not see pass. Where that much
	// room is not allowed, the usual is what there is.
	unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 1<<20)
	return r, w, nil
}

// startTied starts QEMU from a thread that lives as long as it does, for the
// kernel sends Pdeathsig when the thread ends, not the process.
func (q *qemu) startTied() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := q.cmd.Start()
		started <- err
		if err == nil {
			q.ended <- q.cmd.Wait()
		}
	}()
	return <-started
}

// kill ends QEMU. It may be called at any time.
func (q *qemu) kill() { q.cmd.Process.Kill() }

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
			return line
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
