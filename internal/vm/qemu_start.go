package vm

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Numbers of the files that QEMU inherits.
const (
	initramfsFD = 3 + iota
	consoleFD
	portFD
	monitorFD
)

func inherited(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// startQEMU checks everything that makes up the guest, and starts it.
func (c *Cmd) startQEMU() (*qemu, error) {
	path, err := findQEMU()
	if err != nil {
		return nil, err
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

func (c *Cmd) qemuArgs() []string {
	return append(machineArgs(c.Mode, c.memory()),
		"-kernel", c.Image,
		"-initrd", inherited(initramfsFD),
		"-append", strings.Join(kernelArgs(c.Mode), " "),
		// The first serial port is the console, the second one carries the
		// frames. Others are faster, but with a virtio port the host interrupts
		// the guest whenever it likes.
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
		// QEMU would end by itself on Ctrl-C, and look as if it had failed.
		Setpgid:   true,
		Pdeathsig: unix.SIGKILL,
	}
	return q.startTied()
}

// serialPipe returns a pipe for the output of a serial port.
func serialPipe() (r, w *os.File, err error) {
	if r, w, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	// QEMU makes the port busy while the pipe is full, until this process has
	// read from it: time that the guest must not see pass. If so large a pipe
	// is not allowed, keep the usual size.
	_, _ = unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 1<<20)
	return r, w, nil
}

// startTied starts QEMU from a thread that lives as long as QEMU does, because
// the kernel sends Pdeathsig when the thread ends, not the process.
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
