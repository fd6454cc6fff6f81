package vethpair

import (
	"errors"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/network"
)

// attachXDP attaches prog to an interface in a network namespace.
func attachXDP(ns *network.Netns, index int, mode bench.VethMode, prog *ebpf.Program) (attached attachment, err error) {
	flags := link.XDPDriverMode
	if mode == bench.XDPGeneric {
		flags = link.XDPGenericMode
	}
	err = ns.Do(func() (err error) {
		attached, err = link.AttachXDP(link.XDPOptions{Program: prog, Interface: index, Flags: flags})
		return err
	})
	if !errors.Is(err, ebpf.ErrNotSupported) && !errors.Is(err, unix.EINVAL) {
		return attached, err
	}
	// Before Linux 5.9, the kernel says that it is invalid. If something else
	// is, then netlink fails, too, with a better message.
	nl := &netlinkXDP{ns, index, flags}
	if err := nl.Update(prog); err != nil {
		return nil, err
	}
	return nl, nil
}

// netlinkXDP is an XDP program attached by netlink. It stays attached until
// Close or until its interface disappears, not until a file descriptor is
// closed.
type netlinkXDP struct {
	ns    *network.Netns
	index int
	flags link.XDPAttachFlags
}

func (nl *netlinkXDP) Update(prog *ebpf.Program) error { return nl.set(prog.FD()) }

func (nl *netlinkXDP) Close() error { return nl.set(-1) }

func (nl *netlinkXDP) set(fd int) error {
	return nl.ns.Do(func() error {
		iface := &netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: nl.index}}
		return netlink.LinkSetXdpFdWithFlags(iface, fd, int(nl.flags))
	})
}
