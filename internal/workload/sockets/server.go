package sockets

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Server is the sockets of the far host that wait for the near one: listeners,
// or unconnected UDP sockets.
type Server struct {
	Sockets []int
	network *Network
	talk    bench.Exchange
}

// Serve opens a group of sockets on the same port of the far host. With more
// than one, the kernel spreads messages over them.
func (n *Network) Serve(e bench.Exchange, group int) (*Server, error) {
	if e.IPv6 && n.noIPv6 != nil {
		return nil, fmt.Errorf("the network has no IPv6: %w", n.noIPv6)
	}
	s := &Server{network: n, talk: e}
	prepare := func(fd int) error {
		if group == 1 {
			return nil
		}
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	}
	err := n.far.Netns.Do(func() error {
		for range group {
			fd, err := serve(e, prepare)
			if err != nil {
				return err
			}
			s.Sockets = append(s.Sockets, fd)
		}
		return nil
	})
	if err != nil {
		closeSockets(s.Sockets)
		return nil, err
	}
	return s, nil
}

// Files returns copies of the sockets, for a worker to inherit.
func (s *Server) Files() ([]*os.File, error) {
	var files []*os.File
	for _, fd := range s.Sockets {
		dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return files, fmt.Errorf("copy a socket: %w", err)
		}
		files = append(files, os.NewFile(uintptr(dup), "server"))
	}
	return files, nil
}

// Messages returns the messages that a client of the near host sends to the
// server.
func (s *Server) Messages() (*Messages, error) {
	client, peer, err := s.dial(0)
	if err != nil {
		return nil, err
	}
	if s.talk.Protocol == bench.ProtocolTCP {
		return messagesAmong(s.talk.Size, client, peer), nil
	}
	m := messagesAmong(s.talk.Size, append([]int{client}, s.Sockets...)...)
	s.Sockets = nil // closed with the messages
	return m, nil
}

// dial connects the numbered client to the server.
func (s *Server) dial(number int) (client, peer int, err error) {
	err = s.network.near.Netns.Do(func() error {
		client, peer, err = dial(s.talk, s.Sockets[0], nearPort+number)
		return err
	})
	return client, peer, err
}

// Close closes the sockets.
func (s *Server) Close() error {
	closeSockets(s.Sockets)
	return nil
}

// Proxy is two sockets of the far host, each connected to one of the near host,
// like a proxy's sockets for a client and for the service behind it. A program
// that forwards what one of them gets, to either of them, makes no loop,
// because the other ends only answer.
type Proxy struct {
	// Sockets are the proxy's own.
	Sockets [2]int
	clients [2]int
	size    int
}

// Proxy connects the sockets.
func (n *Network) Proxy(e bench.Exchange) (p *Proxy, err error) {
	p = &Proxy{Sockets: [2]int{-1, -1}, clients: [2]int{-1, -1}, size: e.Size}
	for i := range p.Sockets {
		if err = p.connect(n, e, i); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	return p, nil
}

func (p *Proxy) connect(n *Network, e bench.Exchange, i int) error {
	s, err := n.Serve(e, 1)
	if err != nil {
		return err
	}
	p.clients[i], p.Sockets[i], err = s.dial(i)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	if e.Protocol == bench.ProtocolTCP {
		return s.Close()
	}
	return unix.Connect(p.Sockets[i], nearAddress.sockaddr(e.IPv6, nearPort+i))
}

// Sent returns the messages that the proxy sends to its client. Closing them
// closes the proxy.
func (p *Proxy) Sent() *Messages {
	return messagesAmong(p.size, p.Sockets[0], p.clients[0], p.Sockets[1], p.clients[1])
}

// Received returns the messages that the client sends to the proxy. Closing
// them closes the proxy.
func (p *Proxy) Received() *Messages {
	return messagesAmong(p.size, p.clients[0], p.Sockets[0], p.clients[1], p.Sockets[1])
}

// Close closes the sockets.
func (p *Proxy) Close() error {
	for _, fd := range append(p.Sockets[:], p.clients[:]...) {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	return nil
}
