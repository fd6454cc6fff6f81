package sockets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// nearPort is the first port of the near host. It is the same in each run, so
// that hashing it costs the same.
const nearPort = 40000

// newSocket opens a non-blocking socket. A TCP socket sends data at once, and
// ends with a reset, which leaves no waiting state.
func newSocket(e bench.Exchange) (int, error) {
	family, typ := unix.AF_INET, unix.SOCK_DGRAM
	if e.IPv6 {
		family = unix.AF_INET6
	}
	if e.Protocol == bench.ProtocolTCP {
		typ = unix.SOCK_STREAM
	}
	fd, err := unix.Socket(family, typ|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open a %s socket: %w", e.Protocol, err)
	}
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if e.Protocol == bench.ProtocolTCP {
		err = errors.Join(err, endByReset(fd), unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("set up a %s socket: %w", e.Protocol, err)
	}
	return fd, nil
}

func endByReset(fd int) error {
	return unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// boundSocket opens a socket with its own address. prepare, unless nil, is
// called before it has one.
func boundSocket(e bench.Exchange, host hostAddress, port int, prepare func(fd int) error) (int, error) {
	fd, err := newSocket(e)
	if err != nil {
		return -1, err
	}
	if prepare != nil {
		err = prepare(fd)
	}
	if err == nil {
		err = unix.Bind(fd, host.sockaddr(e.IPv6, port))
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("bind a %s socket to port %d: %w", e.Protocol, port, err)
	}
	return fd, nil
}

// serve opens a socket of the far host that waits for messages: a TCP socket
// listens.
func serve(e bench.Exchange, prepare func(fd int) error) (int, error) {
	fd, err := boundSocket(e, farAddress, e.Port, prepare)
	if err != nil || e.Protocol != bench.ProtocolTCP {
		return fd, err
	}
	if err := unix.Listen(fd, 64); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("listen on port %d: %w", e.Port, err)
	}
	return fd, nil
}

// dial opens a socket of the near host that is connected to the far one, and
// returns the far one's, too. With UDP that is the server itself.
func dial(e bench.Exchange, server, port int) (client, peer int, err error) {
	if client, err = boundSocket(e, nearAddress, port, nil); err != nil {
		return -1, -1, err
	}
	defer func() {
		if err != nil {
			unix.Close(client)
		}
	}()
	err = unix.Connect(client, farAddress.sockaddr(e.IPv6, e.Port))
	if err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return -1, -1, fmt.Errorf("connect to port %d: %w", e.Port, err)
	}
	if e.Protocol != bench.ProtocolTCP {
		return client, server, nil
	}
	if peer, err = accept(server, progressTime); err != nil {
		return -1, -1, fmt.Errorf("connect to port %d: %w", e.Port, err)
	}
	return client, peer, nil
}

// accept takes a connection from a listener, and waits for one if necessary.
func accept(listener int, wait time.Duration) (int, error) {
	if at, err := readable([]int{listener}, wait); err != nil || at < 0 {
		return -1, errors.Join(os.ErrDeadlineExceeded, err)
	}
	fd, _, err := unix.Accept4(listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	if err != nil {
		return -1, err
	}
	if err := errors.Join(endByReset(fd), unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// readable waits until there is something to read from one of the sockets, and
// returns its index, or -1 if there is nothing in time.
func readable(sockets []int, wait time.Duration) (int, error) {
	return ready(context.Background(), sockets, unix.POLLIN, wait)
}

// readyWait is how long to wait for a socket between looks at the context.
const readyWait = 100 * time.Millisecond

// ready waits for an event of one of the sockets. It fails when ctx is cancelled.
func ready(ctx context.Context, sockets []int, events int16, wait time.Duration) (int, error) {
	fds := make([]unix.PollFd, len(sockets))
	for i, fd := range sockets {
		fds[i] = unix.PollFd{Fd: int32(fd), Events: events}
	}
	for began := time.Now(); ; {
		if err := ctx.Err(); err != nil {
			return -1, err
		}
		left := max(wait-time.Since(began), 0)
		_, err := unix.Poll(fds, int((min(left, readyWait)+time.Millisecond-1)/time.Millisecond))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return -1, fmt.Errorf("wait for a socket: %w", err)
		}
		for i := range fds {
			if err == nil && fds[i].Revents != 0 {
				return i, nil
			}
		}
		if err == nil && left <= readyWait || left == 0 {
			return -1, nil
		}
	}
}
