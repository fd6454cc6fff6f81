// Package vethpair sends live frames through a veth pair to a program that is
// attached to one of its ends, and accounts for each of them. Idle ends hold
// programs for test_run.
package vethpair

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/network"
)

// maxFrame is the longest frame that a Pair carries. It fits into a page of 4
// KiB along with the headroom of XDP and what any kernel puts at the page's
// end: native XDP requires a packet in one page.
const maxFrame = 3000

// Pair is a veth pair. Packets sent from its near end drive a program that is
// attached to its far end, or to the egress of the near one. Each end is alone
// in its network namespace and has no address, so nothing else sends there,
// nothing answers, and the program sees a machine with one interface.
//
// A Pair may be used from any thread, but not from two at a time.
type Pair struct {
	mode      bench.VethMode
	hook      bench.Hook
	near, far network.End
	attached  attachment
	// dropped is the counter of dropped packets when Settle last read it.
	dropped uint64
}

// New makes a veth pair that takes programs in the given mode: at the ingress
// of its far end or, for tc programs, at the egress of its near end, from which
// its packets are sent.
func New(mode bench.VethMode, hook bench.Hook) (*Pair, error) {
	v := &Pair{mode: mode, hook: hook, near: network.End{Name: "near"}, far: network.End{Name: "far"}}
	if err := v.setUp(); err != nil {
		return nil, errors.Join(fmt.Errorf("make veth pair: %w", err), v.Close())
	}
	return v, nil
}

func (v *Pair) setUp() error {
	for _, e := range []*network.End{&v.near, &v.far} {
		if err := e.Open(); err != nil {
			return err
		}
	}
	if err := addVeth(v.near.Netlink, v.near.Name, v.far.Name, v.far.Netns); err != nil {
		return err
	}
	for _, e := range []*network.End{&v.near, &v.far} {
		if err := e.Up(); err != nil {
			return fmt.Errorf("bring up %s end: %w", e.Name, err)
		}
	}
	if v.mode == bench.XDPGeneric {
		// Only an end that polls takes live frames. One with native XDP does,
		// and one with GRO (Linux 5.13). A generic program itself keeps GRO
		// from merging packets.
		return setGRO(&v.far, true)
	}
	return nil
}

// addVeth adds a veth pair, its peer in another namespace unless that is nil.
func addVeth(h *netlink.Handle, name, peer string, peerNS *network.Netns) error {
	pair := netlink.NewVeth(netlink.NewLinkAttrs())
	pair.Name, pair.PeerName = name, peer
	pair.MTU, pair.PeerMTU = maxFrame, maxFrame
	if peerNS != nil {
		pair.PeerNamespace = netlink.NsFd(peerNS.FD())
	}
	return network.AddPair(h, pair)
}

// attachment is a program that is attached to an interface: a link.Link, or a
// substitute on a kernel without links.
type attachment interface {
	Update(*ebpf.Program) error
	Close() error
}

// Attach attaches a program to its end, in place of the one attached before. In
// native mode that takes microseconds if a Parking holds both, else
// milliseconds.
func (v *Pair) Attach(prog *ebpf.Program) error {
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
		v.attached, err = attachXDP(v.far.Netns, v.far.Index, v.mode, prog)
	}
	if err != nil {
		return fmt.Errorf("attach to veth: %w", err)
	}
	if v.mode != bench.XDPNative {
		return nil
	}
	// The kernel turned GRO on with the program. It would only cost time, on
	// the packets that the program passes.
	return setGRO(&v.far, false)
}

// programEnd returns the end that the program is attached to.
func (v *Pair) programEnd() *network.End {
	if v.hook == bench.Egress {
		return &v.near
	}
	return &v.far
}

// Detach removes the program from its end. Packets then go to the stack of the
// far end's namespace, which discards them.
func (v *Pair) Detach() error {
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
func (v *Pair) Close() error {
	var errs []error
	if v.attached != nil {
		errs = append(errs, v.attached.Close())
	}
	return errors.Join(append(errs, v.near.Close(), v.far.Close())...)
}
