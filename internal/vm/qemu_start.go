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
	_, _ = unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 1<<20)
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
