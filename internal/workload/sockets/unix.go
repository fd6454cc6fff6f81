package sockets

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// unixName is in the abstract namespace, and each network namespace has its
// own: it is not a file.
const unixName = "@ebpf-bench"

// unixSocket opens a Unix socket, with an address if name is not empty.
func unixSocket(typ int, name string) (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, typ|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open a Unix socket: %w", err)
	}
	if name == "" {
		return fd, nil
	}
	if err = unix.Bind(fd, &unix.SockaddrUnix{Name: name}); err == nil && typ == unix.SOCK_STREAM {
		err = unix.Listen(fd, 8)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("bind a Unix socket: %w", err)
	}
	return fd, nil
}

func unixConnectTask(bench.Exchange, []int) (call, error) {
	server, err := unixSocket(unix.SOCK_STREAM, unixName)
	if err != nil {
		return nil, err
	}
	return func() error {
		client, err := unixSocket(unix.SOCK_STREAM, "")
		if err != nil {
			return err
		}
		defer unix.Close(client)
		if err := unix.Connect(client, &unix.SockaddrUnix{Name: unixName}); err != nil {
			return err
		}
		peer, _, err := unix.Accept4(server, unix.SOCK_CLOEXEC)
		if err != nil {
			return err
		}
		return unix.Close(peer)
	}, nil
}

// unixDatagrams sends a message from one Unix socket to another, both with
// names.
func unixDatagrams(e bench.Exchange, _ []int) (call, error) {
	server, err := unixSocket(unix.SOCK_DGRAM, unixName)
	if err != nil {
		return nil, err
	}
	client, err := unixSocket(unix.SOCK_DGRAM, unixName+"-client")
	if err != nil {
		return nil, err
	}
	message, buffer := make([]byte, e.Size), make([]byte, 1<<16)
	return func() error {
		if err := unix.Sendto(client, message, unix.MSG_DONTWAIT, &unix.SockaddrUnix{Name: unixName}); err != nil {
			return err
		}
		_, _, err := unix.Recvfrom(server, buffer, unix.MSG_DONTWAIT)
		return err
	}, nil
}

var unixSendTask, unixReceiveTask = unixDatagrams, unixDatagrams

// onUnixConnection makes a call on a connected Unix socket with a name.
func onUnixConnection(do func(fd int) error) func(bench.Exchange, []int) (call, error) {
	return func(bench.Exchange, []int) (call, error) {
		if _, err := unixSocket(unix.SOCK_STREAM, unixName); err != nil {
			return nil, err
		}
		client, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		if err := unix.Bind(client, &unix.SockaddrUnix{Name: unixName + "-client"}); err != nil {
			return nil, err
		}
		if err := unix.Connect(client, &unix.SockaddrUnix{Name: unixName}); err != nil {
			return nil, err
		}
		return func() error { return do(client) }, nil
	}
}

var (
	unixPeerNameTask = onUnixConnection(func(fd int) error {
		_, err := unix.Getpeername(fd)
		return err
	})
	unixNameTask = onUnixConnection(func(fd int) error {
		_, err := unix.Getsockname(fd)
		return err
	})
)
