package sockets

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/network"
)

// Network is two hosts that can talk to each other: network namespaces that a
// veth pair joins, each end with an IPv4 and an IPv6 address. Nothing else
// sends there. Work that the stack would do on timers is done in advance:
// addresses are not probed for duplicates, neighbours are permanent, and each
// TCP segment is acknowledged at once.
type Network struct {
	near, far network.End
	// noIPv6 is why the hosts have no IPv6 addresses.
	noIPv6 error
}

// The addresses are those reserved for benchmarks: RFC 2544 and RFC 5180.
var (
	nearAddress = hostAddress{net.IPv4(198, 18, 0, 1), net.ParseIP("2001:2::1"), net.HardwareAddr{2, 0, 0, 0, 0, 1}}
	farAddress  = hostAddress{net.IPv4(198, 18, 0, 2), net.ParseIP("2001:2::2"), net.HardwareAddr{2, 0, 0, 0, 0, 2}}
)

// nearIndex is the index of the near host's interface.
const nearIndex = 7

// hostAddress holds the addresses of an end of a Network.
type hostAddress struct {
	ipv4, ipv6 net.IP
	mac        net.HardwareAddr
}

// sockaddr returns the address of a port of the host.
func (a hostAddress) sockaddr(ipv6 bool, port int) unix.Sockaddr {
	if ipv6 {
		return &unix.SockaddrInet6{Port: port, Addr: [16]byte(a.ipv6.To16())}
	}
	return &unix.SockaddrInet4{Port: port, Addr: [4]byte(a.ipv4.To4())}
}

// NewNetwork makes the two hosts.
func NewNetwork() (*Network, error) {
	n := &Network{near: network.End{Name: "near"}, far: network.End{Name: "far"}}
	if err := n.setUp(); err != nil {
		return nil, errors.Join(fmt.Errorf("make network: %w", err), n.Close())
	}
	return n, nil
}

func (n *Network) setUp() error {
	for _, e := range []*network.End{&n.near, &n.far} {
		if err := e.Open(); err != nil {
			return err
		}
	}
	pair := netlink.NewVeth(netlink.NewLinkAttrs())
	// If the index differs from its peer's, the kernel turns on the interface
	// at once rather than within a second.
	pair.Name, pair.Index, pair.HardwareAddr = n.near.Name, nearIndex, nearAddress.mac
	pair.PeerName, pair.PeerNamespace, pair.PeerHardwareAddr = n.far.Name, netlink.NsFd(n.far.Netns.FD()), farAddress.mac
	if err := network.AddPair(n.near.Netlink, pair); err != nil {
		return err
	}
	hosts := []host{{&n.near, nearAddress, farAddress}, {&n.far, farAddress, nearAddress}}
	for _, h := range hosts {
		if err := h.upWithLoopback(); err != nil {
			return fmt.Errorf("bring up %s end: %w", h.Name, err)
		}
	}
	for _, h := range hosts {
		if err := h.running(); err != nil {
			return fmt.Errorf("bring up %s end: %w", h.Name, err)
		}
		if err := h.joinTo(h.own.ipv4, h.peer.ipv4); err != nil {
			return fmt.Errorf("set up %s end: %w", h.Name, err)
		}
		// A kernel without IPv6 can still use IPv4.
		n.noIPv6 = errors.Join(n.noIPv6, h.joinTo(h.own.ipv6, h.peer.ipv6))
	}
	return nil
}

// host is an end of a Network, its address and the peer's.
type host struct {
	*network.End
	own, peer hostAddress
}

// upWithLoopback brings up the end, and its host's loopback.
func (h host) upWithLoopback() error {
	lo, err := h.Netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := h.Netlink.LinkSetUp(lo); err != nil {
		return err
	}
	return h.Up()
}

// running waits until the end sends: the kernel turns on the end that came up
// first after the other, and in its own time. Until then it drops everything.
func (h host) running() error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		link, err := h.Netlink.LinkByIndex(h.Index)
		if err != nil {
			return err
		}
		if link.Attrs().OperState == netlink.OperUp {
			return nil
		}
		if time.Since(began) > progressTime {
			return noProgress("the interface is " + link.Attrs().OperState.String())
		}
	}
}

// joinTo gives the end an address and a route to another one.
func (h host) joinTo(own, peer net.IP) error {
	family, only := unix.AF_INET6, net.CIDRMask(128, 128)
	if own.To4() != nil {
		family, only = unix.AF_INET, net.CIDRMask(32, 32)
	}
	link := &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Name: h.Name, Index: h.Index}}
	err := h.Netlink.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: own, Mask: only}, Flags: unix.IFA_F_NODAD})
	if err != nil {
		return fmt.Errorf("add address %s: %w", own, err)
	}
	err = h.Netlink.NeighSet(&netlink.Neigh{LinkIndex: h.Index, Family: family, State: netlink.NUD_PERMANENT, IP: peer, HardwareAddr: h.peer.mac})
	if err != nil {
		return fmt.Errorf("add neighbour %s: %w", peer, err)
	}
	err = h.Netlink.RouteAdd(&netlink.Route{
		LinkIndex: h.Index, Dst: &net.IPNet{IP: peer, Mask: only}, Scope: netlink.SCOPE_LINK, QuickACK: 1,
	})
	if err != nil {
		return fmt.Errorf("add route to %s: %w", peer, err)
	}
	return h.answersTo(own)
}

// answersTo waits until an address is the end's own; an IPv6 address becomes
// that in the kernel's own time.
func (h host) answersTo(own net.IP) error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		routes, err := h.Netlink.RouteGet(own)
		if err == nil && len(routes) > 0 && routes[0].Type == unix.RTN_LOCAL {
			return nil
		}
		if time.Since(began) > progressTime {
			return errors.Join(noProgress("address "+own.String()+" is not local"), err)
		}
	}
}

// Near returns the namespace of the host that talks first.
func (n *Network) Near() *network.Netns { return n.near.Netns }

// Far returns the namespace of the host that answers.
func (n *Network) Far() *network.Netns { return n.far.Netns }

// Close releases the hosts.
func (n *Network) Close() error { return errors.Join(n.near.Close(), n.far.Close()) }
