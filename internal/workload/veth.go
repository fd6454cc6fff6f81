package workload

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// maxFrame is the longest frame that a Veth carries. It fits a page of 4 KiB
// beside the headroom of XDP and what any kernel puts at the page's end, which
// is where native XDP wants a packet.
const maxFrame = 3000

// Veth is a veth pair. Packets sent from its near end drive a program that is
// attached to its far end, or to the egress of the near one. Each end has a
// network namespace to itself and no address, so nothing else sends there,
// nothing answers, and the program sees a machine with one interface.
//
// A Veth may be used from any thread, but not from two at a time.
type Veth struct {
	mode      bench.VethMode
	hook      bench.Hook
	near, far end
	attached  attachment
	// dropped is what Settle last read of the counter of dropped packets.
	dropped uint64
}

// end is an end of a veth pair.
type end struct {
	ns      *Netns
	netlink *netlink.Handle
	name    string
	index   int
}

// NewVeth makes a veth pair whose far end takes programs in the given mode.
func NewVeth(mode bench.VethMode) (*Veth, error) {
	return NewVethAt(mode, bench.Ingress)
}

// NewVethAt makes a veth pair that takes programs in the given mode: at the
// ingress of its far end, or, tc programs, at the egress of its near end, which
// is where its packets are sent from.
func NewVethAt(mode bench.VethMode, hook bench.Hook) (*Veth, error) {
	v := &Veth{mode: mode, hook: hook, near: end{name: "near"}, far: end{name: "far"}}
	if err := v.setUp(); err != nil {
		return nil, errors.Join(fmt.Errorf("make veth pair: %w", err), v.Close())
	}
	return v, nil
}

func (v *Veth) setUp() error {
	for _, e := range []*end{&v.near, &v.far} {
		if err := e.open(); err != nil {
			return err
		}
	}
	if err := addVeth(v.near.netlink, v.near.name, v.far.name, v.far.ns); err != nil {
		return err
	}
	for _, e := range []*end{&v.near, &v.far} {
		if err := e.up(); err != nil {
			return fmt.Errorf("bring up %s end: %w", e.name, err)
		}
	}
	if v.mode == bench.XDPGeneric {
		// Only an end that polls takes live frames. One with native XDP does,
		// and one with GRO (Linux 5.13). A generic program keeps GRO itself
		// from merging packets.
		return v.far.setGRO(true)
	}
	return nil
}

// addVeth adds a veth pair, its peer in another namespace unless that is nil.
func addVeth(h *netlink.Handle, name, peer string, peerNS *Netns) error {
	pair := netlink.NewVeth(netlink.NewLinkAttrs())
	pair.Name, pair.PeerName = name, peer
	pair.MTU, pair.PeerMTU = maxFrame, maxFrame
	if peerNS != nil {
		pair.PeerNamespace = netlink.NsFd(peerNS.fd())
	}
	return addPair(h, pair)
}

func addPair(h *netlink.Handle, pair *netlink.Veth) error {
	err := h.LinkAdd(pair)
	if errors.Is(err, unix.EOPNOTSUPP) {
		err = bench.WithHint(err, "The kernel has no veth interfaces: try modprobe veth.")
	}
	return err
}

// open makes the namespace of an end that does not exist yet.
func (e *end) open() (err error) {
	if e.ns, err = NewNetns(); err != nil {
		return err
	}
	e.netlink, err = e.ns.netlink()
	return err
}

// up finds the end and brings it up.
func (e *end) up() error {
	iface, err := e.netlink.LinkByName(e.name)
	if err != nil {
		return err
	}
	e.index = iface.Attrs().Index
	// An end without a link-local address solicits no router and reports no
	// multicast group. A kernel without IPv6 is silent anyway.
	err = e.netlink.LinkSetIP6AddrGenMode(iface, nl6AddrGenNone)
	if err != nil && !errors.Is(err, unix.EAFNOSUPPORT) {
		return err
	}
	return e.netlink.LinkSetUp(iface)
}

// nl6AddrGenNone is the kernel's IN6_ADDR_GEN_MODE_NONE.
const nl6AddrGenNone = 1

// attachment is a program that is attached to an interface: a link.Link, or
// what stands for one on a kernel without.
type attachment interface {
	Update(*ebpf.Program) error
	Close() error
}

// Attach attaches a program to its end, in place of the one that was attached
// before. In native mode that takes microseconds if both are held by a Parking,
// else milliseconds.
func (v *Veth) Attach(prog *ebpf.Program) error {
	if v.attached != nil {
		return v.attached.Update(prog)
	}
	var err error
	switch v.mode {
	case bench.TC:
		v.attached, err = attachTC(v.programEnd(), v.hook, prog)
	case bench.TCX:
		v.attached, err = attachTCX(v.programEnd(), v.hook, prog)
	default:
		v.attached, err = attachXDP(v.far.ns, v.far.index, v.mode, prog)
	}
	if err != nil {
		return fmt.Errorf("attach to veth: %w", err)
	}
	if v.mode != bench.XDPNative {
		return nil
	}
	// The kernel turned GRO on with the program. It would only cost time, on
	// the packets that the program passes.
	return v.far.setGRO(false)
}

// programEnd is the end that the program is attached to.
func (v *Veth) programEnd() *end {
	if v.hook == bench.Egress {
		return &v.near
	}
	return &v.far
}

// Detach takes the program from its end. Packets then go to the stack of the far
// end's namespace, which has no use for them.
func (v *Veth) Detach() error {
	if v.attached == nil {
		return nil
	}
	attached := v.attached
	v.attached = nil
	if err := attached.Close(); err != nil {
		return fmt.Errorf("detach from veth: %w", err)
	}
	return nil
}

// Close removes the pair and detaches its program.
func (v *Veth) Close() error {
	var errs []error
	if v.attached != nil {
		errs = append(errs, v.attached.Close())
	}
	for _, e := range []end{v.near, v.far} {
		if e.netlink != nil {
			e.netlink.Close()
		}
		if e.ns != nil {
			errs = append(errs, e.ns.Close())
		}
	}
	return errors.Join(errs...)
}
