package workload

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Network is two hosts that can talk to each other: network namespaces that a
// veth pair joins, each end with an IPv4 and an IPv6 address. Nothing else
// sends there. What the stack would do by a timer of its own is done once and
// for all: addresses are not probed for duplicates, neighbours are permanent,
// and each segment of TCP is acknowledged at once.
type Network struct {
	near, far end
	// noIPv6 is why the hosts have no IPv6 addresses.
	noIPv6 error
}

// The addresses are those that are set aside for benchmarks: RFC 2544 and
// RFC 5180.
var (
	nearAddress = hostAddress{net.IPv4(198, 18, 0, 1), net.ParseIP("2001:2::1"), net.HardwareAddr{2, 0, 0, 0, 0, 1}}
	farAddress  = hostAddress{net.IPv4(198, 18, 0, 2), net.ParseIP("2001:2::2"), net.HardwareAddr{2, 0, 0, 0, 0, 2}}
)

// nearIndex is the index of the near host's interface.
const nearIndex = 7

// hostAddress is what an end of a Network is reached by.
type hostAddress struct {
	ipv4, ipv6 net.IP
	mac        net.HardwareAddr
}

// sockaddr is the address of a port of the host.
func (a hostAddress) sockaddr(ipv6 bool, port int) unix.Sockaddr {
	if ipv6 {
		return &unix.SockaddrInet6{Port: port, Addr: [16]byte(a.ipv6.To16())}
	}
	return &unix.SockaddrInet4{Port: port, Addr: [4]byte(a.ipv4.To4())}
}

// NewNetwork makes the two hosts.
func NewNetwork() (*Network, error) {
	n := &Network{near: end{name: "near"}, far: end{name: "far"}}
	if err := n.setUp(); err != nil {
		return nil, errors.Join(fmt.Errorf("make network: %w", err), n.Close())
	}
	return n, nil
}

func (n *Network) setUp() error {
	for _, e := range []*end{&n.near, &n.far} {
		if err := e.open(); err != nil {
			return err
		}
	}
	pair := netlink.NewVeth(netlink.NewLinkAttrs())
	// An index that its peer does not have makes the kernel turn on the interface
	// at once rather than within a second.
	pair.Name, pair.Index, pair.HardwareAddr = n.near.name, nearIndex, nearAddress.mac
	pair.PeerName, pair.PeerNamespace, pair.PeerHardwareAddr = n.far.name, netlink.NsFd(n.far.ns.fd()), farAddress.mac
	if err := addPair(n.near.netlink, pair); err != nil {
		return err
	}
	ends := []struct {
		*end
		own, peer hostAddress
	}{{&n.near, nearAddress, farAddress}, {&n.far, farAddress, nearAddress}}
	for _, e := range ends {
		if err := e.upWithLoopback(); err != nil {
			return fmt.Errorf("bring up %s end: %w", e.name, err)
		}
	}
	for _, e := range ends {
		if err := e.running(); err != nil {
			return fmt.Errorf("bring up %s end: %w", e.name, err)
		}
		if err := e.joinTo(e.own.ipv4, e.peer.ipv4, e.peer.mac); err != nil {
			return fmt.Errorf("set up %s end: %w", e.name, err)
		}
		// A kernel without IPv6 still has a use for IPv4.
		n.noIPv6 = errors.Join(n.noIPv6, e.joinTo(e.own.ipv6, e.peer.ipv6, e.peer.mac))
	}
	return nil
}

// upWithLoopback brings up the end, and its host's loopback.
func (e *end) upWithLoopback() error {
	lo, err := e.netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := e.netlink.LinkSetUp(lo); err != nil {
		return err
	}
	return e.up()
}

// running waits until the end sends: the kernel turns on the one that came up
// first after the other, and in its own time. Until then it drops everything.
func (e *end) running() error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		link, err := e.netlink.LinkByIndex(e.index)
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

// joinTo gives the end an address and the way to another one.
func (e *end) joinTo(own, peer net.IP, mac net.HardwareAddr) error {
	family, only := unix.AF_INET6, net.CIDRMask(128, 128)
	if own.To4() != nil {
		family, only = unix.AF_INET, net.CIDRMask(32, 32)
	}
	link := &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Name: e.name, Index: e.index}}
	err := e.netlink.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: own, Mask: only}, Flags: unix.IFA_F_NODAD})
	if err != nil {
		return fmt.Errorf("add address %s: %w", own, err)
	}
	err = e.netlink.NeighSet(&netlink.Neigh{LinkIndex: e.index, Family: family, State: netlink.NUD_PERMANENT, IP: peer, HardwareAddr: mac})
	if err != nil {
		return fmt.Errorf("add neighbour %s: %w", peer, err)
	}
	err = e.netlink.RouteAdd(&netlink.Route{
		LinkIndex: e.index, Dst: &net.IPNet{IP: peer, Mask: only}, Scope: netlink.SCOPE_LINK, QuickACK: 1,
	})
	if err != nil {
		return fmt.Errorf("add route to %s: %w", peer, err)
	}
	return e.answersTo(own)
}

// answersTo waits until an address is the end's own, which one of IPv6 becomes in
// the kernel's own time.
func (e *end) answersTo(own net.IP) error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		routes, err := e.netlink.RouteGet(own)
		if err == nil && len(routes) > 0 && routes[0].Type == unix.RTN_LOCAL {
			return nil
		}
		if time.Since(began) > progressTime {
			return errors.Join(noProgress("address "+own.String()+" is not local"), err)
		}
	}
}

// Near is the namespace of the host that talks first, Far that of the other.
func (n *Network) Near() *Netns { return n.near.ns }

// Far is the namespace of the host that answers.
func (n *Network) Far() *Netns { return n.far.ns }

// Close lets go of the hosts.
func (n *Network) Close() error {
	var errs []error
	for _, e := range []end{n.near, n.far} {
		if e.netlink != nil {
			e.netlink.Close()
		}
		if e.ns != nil {
			errs = append(errs, e.ns.Close())
		}
	}
	return errors.Join(errs...)
}
