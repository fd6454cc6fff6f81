package builtin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// loopback is the worker's own network, with only its loopback interface:
// nobody else sees the sockets that talk to each other there.
type loopback struct {
	// listener accepts TCP connections at address; udp is bound, and connected
	// to itself.
	listener, udp uintptr
	address, size uintptr
	// client and server are the ends of a connection.
	client, server uintptr
	// length is an address for the lengths that calls take and change, linger
	// one for the option that closes a connection without leaving it to time
	// out.
	length, linger uintptr
}

const addressSize = 16 // of IPv4

// newLoopback moves the calling thread, which must be locked, to a new network
// namespace.
func newLoopback(s *scene) (*loopback, error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	if err := raiseLoopback(); err != nil {
		return nil, fmt.Errorf("bring up the loopback interface: %w", err)
	}
	n := &loopback{size: addressSize, length: s.words(addressSize), linger: s.words(1)}
	n.address = s.put(ipv4(0))
	n.listener = raw(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	raw(unix.SYS_BIND, n.listener, n.address, addressSize)
	if failed(raw(unix.SYS_LISTEN, n.listener, 16)) {
		return nil, fmt.Errorf("listen on the loopback interface")
	}
	raw(unix.SYS_GETSOCKNAME, n.listener, n.address, n.length)
	n.udp = raw(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	self := s.put(ipv4(0))
	raw(unix.SYS_BIND, n.udp, self, addressSize)
	raw(unix.SYS_GETSOCKNAME, n.udp, self, n.length)
	if failed(raw(unix.SYS_CONNECT, n.udp, self, addressSize)) {
		return nil, fmt.Errorf("connect on the loopback interface")
	}
	n.client, n.server = n.connect()
	if failed(n.server) {
		return nil, fmt.Errorf("accept on the loopback interface")
	}
	return n, nil
}

// ipv4 returns the address of a port on the loopback interface; for port 0 the
// kernel chooses a free one.
func ipv4(port uint16) []byte {
	b := binary.NativeEndian.AppendUint16(nil, unix.AF_INET)
	b = binary.BigEndian.AppendUint16(b, port)
	return append(b, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)
}

// raiseLoopback brings up the interface lo of the thread's network namespace.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r)
}

// stream returns a TCP socket that is reset when it is closed. Otherwise, the
// connections that a load closes would use up the ports until they time out.
func (n *loopback) stream() uintptr {
	fd := raw(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	raw(unix.SYS_SETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_LINGER, n.linger, unsafe.Sizeof(unix.Linger{}))
	return fd
}

// connectTime is how long a connection to this very machine may take.
const connectTime = time.Second

// connect makes a connection. Its handshake is complete when the call returns,
// because no packet leaves the CPU.
func (n *loopback) connect() (client, server uintptr) {
	client = n.stream()
	raw(unix.SYS_CONNECT, client, n.address, addressSize)
	// A thread of the kernel may be late in queuing the connection.
	waiting := []unix.PollFd{{Fd: int32(n.listener), Events: unix.POLLIN}}
	for err := error(unix.EINTR); errors.Is(err, unix.EINTR); {
		_, err = unix.Poll(waiting, int(connectTime.Milliseconds()))
	}
	return client, n.accept()
}

func (n *loopback) accept() uintptr {
	return raw(unix.SYS_ACCEPT4, n.listener, 0, 0, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
}

// newNetScene returns a scene with a network.
func newNetScene() (*scene, error) {
	s, err := newScene()
	if err != nil {
		return nil, err
	}
	s.net, err = newLoopback(s)
	return s, err
}

// exchange opens a TCP connection, sends and receives on it, closes it, and
// sends and receives a datagram.
func (s *scene) exchange() error {
	client, server := s.net.connect()
	raw(unix.SYS_SENDTO, client, s.data(), messageSize, 0, 0, 0)
	raw(unix.SYS_RECVFROM, server, s.other(), messageSize, 0, 0, 0)
	closeFD(client)
	closeFD(server)
	raw(unix.SYS_SENDTO, s.net.udp, s.data(), messageSize, 0, 0, 0)
	raw(unix.SYS_RECVFROM, s.net.udp, s.other(), messageSize, 0, 0, 0)
	return nil
}

// newTalker returns a function that exchanges messages on a separate network.
func newTalker([]string) (once func() error, err error) {
	s, err := newNetScene()
	if err != nil {
		return nil, err
	}
	return s.exchange, nil
}
