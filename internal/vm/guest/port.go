package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// portDevice is the second serial port, which the kernel does not print to.
const portDevice = "/dev/ttyS1"

// port sends frames to the host.
type port struct {
	fd int

	mu  sync.Mutex
	seq uint64
}

func openPort() (*port, error) {
	fd, err := unix.Open(portDevice, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", portDevice, err)
	}
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err == nil {
		// Send every byte unchanged: a terminal would turn a newline into two.
		t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
		t.Cflag = unix.CS8 | unix.CREAD | unix.CLOCAL | unix.B115200
		err = unix.IoctlSetTermios(fd, unix.TCSETS, t)
	}
	if err != nil {
		return nil, fmt.Errorf("set up %s: %w", portDevice, err)
	}
	return &port{fd: fd}, nil
}

// send sends a frame. It returns when the kernel has taken it.
func (p *port) send(typ FrameType, v any) error {
	f := Frame{Type: typ}
	if v != nil {
		data, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("send %s: %w", typ, err)
		}
		f.Data = data
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f.Seq = p.seq
	line, err := Encode(f)
	if err == nil {
		err = p.write(line)
	}
	if err != nil {
		return fmt.Errorf("send %s: %w", typ, err)
	}
	p.seq++
	return nil
}

// write writes all of b. It makes plain system calls, because the poller of the
// runtime would add threads and wake-ups.
func (p *port) write(b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(p.fd, b)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		default:
			b = b[n:]
		}
	}
	return nil
}

// drain waits until the last byte has been transmitted.
func (p *port) drain() error {
	if err := unix.IoctlSetInt(p.fd, unix.TCSBRK, 1); err != nil {
		return fmt.Errorf("drain %s: %w", portDevice, err)
	}
	return nil
}
