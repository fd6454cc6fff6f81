package builtin

import "golang.org/x/sys/unix"

const messageSize = 64

// netCalls act on sockets of the worker's own network.
var netCalls = map[string]prepareCall{
	"socket":     opening(func(*scene) []uintptr { return []uintptr{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, 0} }),
	"socketpair": socketPair,
	"bind": func(s *scene, nr uintptr) func() {
		at := s.put(ipv4(0))
		return onSocket(func(fd uintptr) { raw(nr, fd, at, addressSize) })
	},
	"listen": func(_ *scene, nr uintptr) func() {
		return onSocket(func(fd uintptr) { raw(nr, fd, 1) })
	},
	"connect": func(s *scene, nr uintptr) func() {
		return func() {
			client := s.net.stream()
			raw(nr, client, s.net.address, addressSize)
			closeFD(s.net.accept())
			closeFD(client)
		}
	},
	"accept":  accepting,
	"accept4": accepting,
	"shutdown": func(s *scene, nr uintptr) func() {
		return func() {
			client, server := s.net.connect()
			raw(nr, client, unix.SHUT_RDWR)
			closeFD(client)
			closeFD(server)
		}
	},
	"sendto": sending(func(s *scene) []uintptr { return []uintptr{s.net.client, s.data(), messageSize, 0, 0, 0} }),
	"recvfrom": receiving(func(s *scene) []uintptr {
		return []uintptr{s.net.server, s.other(), messageSize, 0, 0, 0}
	}),
	"sendmsg": sending(func(s *scene) []uintptr { return []uintptr{s.net.client, s.message(), 0} }),
	"recvmsg": receiving(func(s *scene) []uintptr { return []uintptr{s.net.server, s.message(), 0} }),
	"sendmmsg": sending(func(s *scene) []uintptr {
		return []uintptr{s.net.client, s.message(), 1, 0}
	}),
	"recvmmsg": receiving(func(s *scene) []uintptr {
		return []uintptr{s.net.server, s.message(), 1, unix.MSG_DONTWAIT, 0}
	}),
	"getsockname": with(func(s *scene) []uintptr { return []uintptr{s.net.listener, s.put(ipv4(0)), s.words(addressSize)} }),
	"getpeername": with(func(s *scene) []uintptr { return []uintptr{s.net.client, s.put(ipv4(0)), s.words(addressSize)} }),
	"setsockopt": with(func(s *scene) []uintptr {
		return []uintptr{s.net.client, unix.SOL_SOCKET, unix.SO_KEEPALIVE, s.words(0), 4}
	}),
	"getsockopt": with(func(s *scene) []uintptr {
		return []uintptr{s.net.client, unix.SOL_SOCKET, unix.SO_TYPE, s.data(), s.words(4)}
	}),
}

func socketPair(s *scene, nr uintptr) func() {
	return func() {
		if !failed(raw(nr, unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0, s.data())) {
			closeFD(uintptr(s.int32(0)))
			closeFD(uintptr(s.int32(1)))
		}
	}
}

func onSocket(do func(fd uintptr)) func() {
	return func() {
		fd := raw(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		do(fd)
		closeFD(fd)
	}
}

func accepting(s *scene, nr uintptr) func() {
	return func() {
		client := s.net.stream()
		raw(unix.SYS_CONNECT, client, s.net.address, addressSize)
		closeFD(raw(nr, s.net.listener, 0, 0, unix.SOCK_CLOEXEC))
		closeFD(client)
	}
}

// sending makes a call that sends, and receives what it sent.
func sending(args func(*scene) []uintptr) prepareCall {
	return func(s *scene, nr uintptr) func() {
		a := args(s)
		return func() {
			raw(nr, a...)
			raw(unix.SYS_READ, s.net.server, s.other(), messageSize)
		}
	}
}

// receiving makes a call that receives what is sent before.
func receiving(args func(*scene) []uintptr) prepareCall {
	return func(s *scene, nr uintptr) func() {
		a := args(s)
		return func() {
			raw(unix.SYS_WRITE, s.net.client, s.data(), messageSize)
			raw(nr, a...)
		}
	}
}

// message returns the address of the header of a message, as sendmsg and
// recvmsg take it: no address, a vector with one element, no control data.
func (s *scene) message() uintptr {
	vector := s.words(uint64(s.data()), messageSize)
	return s.words(0, 0, uint64(vector), 1, 0, 0, 0, 0)
}
