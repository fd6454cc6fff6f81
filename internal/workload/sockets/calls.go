package sockets

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func socketTask(e bench.Exchange, _ []int) (call, error) {
	return func() error {
		fd, err := newSocket(e)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}, nil
}

func bindTask(e bench.Exchange, _ []int) (call, error) {
	return func() error {
		fd, err := boundSocket(e, nearAddress, nearPort, nil)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}, nil
}

// sendTask sends a message, and makes the far host discard it.
func sendTask(e bench.Exchange, servers []int) (call, error) {
	fd, err := boundSocket(e, nearAddress, nearPort, nil)
	if err != nil {
		return nil, err
	}
	to := farAddress.sockaddr(e.IPv6, e.Port)
	message, buffer := make([]byte, e.Size), make([]byte, 1<<16)
	return func() error {
		err := unix.Sendto(fd, message, unix.MSG_DONTWAIT, to)
		_, _, _ = unix.Recvfrom(servers[0], buffer, unix.MSG_DONTWAIT)
		return err
	}, nil
}

// receiveTask receives what the far host has sent.
func receiveTask(e bench.Exchange, servers []int) (call, error) {
	fd, err := boundSocket(e, nearAddress, nearPort, nil)
	if err != nil {
		return nil, err
	}
	to := nearAddress.sockaddr(e.IPv6, nearPort)
	message, buffer := make([]byte, e.Size), make([]byte, 1<<16)
	return func() error {
		if err := unix.Sendto(servers[0], message, unix.MSG_DONTWAIT, to); err != nil {
			return err
		}
		if at, err := readable([]int{fd}, progressTime); err != nil || at < 0 {
			return errors.Join(noProgress("no message"), err)
		}
		_, _, err := unix.Recvfrom(fd, buffer, unix.MSG_DONTWAIT)
		return err
	}, nil
}

// onConnection makes a call on a connected socket.
func onConnection(do func(fd int) error) func(bench.Exchange, []int) (call, error) {
	return func(e bench.Exchange, servers []int) (call, error) {
		fd, _, err := dial(e, servers[0], nearPort)
		if err != nil {
			return nil, err
		}
		return func() error { return do(fd) }, nil
	}
}

var (
	peerNameTask = onConnection(func(fd int) error {
		_, err := unix.Getpeername(fd)
		return err
	})
	socketNameTask = onConnection(func(fd int) error {
		_, err := unix.Getsockname(fd)
		return err
	})
	getOptionTask = onConnection(func(fd int) error {
		_, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
		return err
	})
	setOptionTask = onConnection(func(fd int) error {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<16)
	})
)

// readSysctlTask reads a sysctl of the worker's own network namespace.
func readSysctlTask(bench.Exchange, []int) (call, error) {
	fd, err := unix.Open("/proc/sys/net/ipv4/ip_forward", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	var buffer [16]byte
	return func() error {
		_, err := unix.Pread(fd, buffer[:], 0)
		return err
	}, nil
}

func openDeviceTask(bench.Exchange, []int) (call, error) {
	return func() error {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}, nil
}
