package probe

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// The driver decides about native mode. Everything else is tried on the
// loopback, so that a kernel without veth still gives an answer for each.

func haveXDPNative() error {
	return onVeth(func(veth netlink.Link) error {
		return attachXDP(veth, "native", unix.XDP_FLAGS_DRV_MODE)
	})
}

func haveXDPGeneric() error {
	return onLoopback(func(lo netlink.Link) error {
		return attachXDP(lo, "generic", unix.XDP_FLAGS_SKB_MODE)
	})
}

// attachXDP attaches by netlink, which every kernel with XDP has. The program
// disappears with the interface.
func attachXDP(iface netlink.Link, mode string, flags int) error {
	prog, err := load(ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: returns(xdpPass)})
	if err != nil {
		return err
	}
	defer prog.Close()

	if err := netlink.LinkSetXdpFdWithFlags(iface, prog.FD(), flags); err != nil {
		return lackingIf(fmt.Errorf("attach in %s mode: %w", mode, err), unix.EOPNOTSUPP, unix.EINVAL)
	}
	return nil
}

func haveXDPLink() error {
	return onLoopback(func(lo netlink.Link) error {
		prog, err := load(ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: returns(xdpPass)})
		if err != nil {
			return err
		}
		defer prog.Close()

		l, err := link.AttachXDP(link.XDPOptions{
			Program:   prog,
			Interface: lo.Attrs().Index,
			Flags:     link.XDPGenericMode,
		})
		if err != nil {
			return lackingIf(err, unix.EINVAL)
		}
		return l.Close()
	})
}
