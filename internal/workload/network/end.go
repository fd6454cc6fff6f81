package network

import (
	"errors"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// End is an end of a veth pair, in a separate namespace.
type End struct {
	Netns   *Netns
	Netlink *netlink.Handle
	Name    string
	Index   int
}

// AddPair adds a veth pair.
func AddPair(h *netlink.Handle, pair *netlink.Veth) error {
	err := h.LinkAdd(pair)
	if errors.Is(err, unix.EOPNOTSUPP) {
		err = bench.WithHint(err, "the kernel has no veth interfaces: try modprobe veth")
	}
	return err
}

// Open makes the namespace of an end that does not exist yet.
func (e *End) Open() (err error) {
	if e.Netns, err = NewNetns(); err != nil {
		return err
	}
	e.Netlink, err = e.Netns.Netlink()
	return err
}

// Up finds the end and brings it up.
func (e *End) Up() error {
	iface, err := e.Netlink.LinkByName(e.Name)
	if err != nil {
		return err
	}
	e.Index = iface.Attrs().Index
	// An end without a link-local address solicits no router and reports no
	// multicast group. A kernel without IPv6 is silent anyway.
	err = e.Netlink.LinkSetIP6AddrGenMode(iface, nl6AddrGenNone)
	if err != nil && !errors.Is(err, unix.EAFNOSUPPORT) {
		return err
	}
	return e.Netlink.LinkSetUp(iface)
}

// Close releases the end's namespace, and so the pair.
func (e *End) Close() error {
	if e.Netlink != nil {
		e.Netlink.Close()
	}
	if e.Netns != nil {
		return e.Netns.Close()
	}
	return nil
}

// nl6AddrGenNone is the kernel's IN6_ADDR_GEN_MODE_NONE.
const nl6AddrGenNone = 1
