package probe

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

func haveXDPNative() error { return haveXDPMode("native", unix.XDP_FLAGS_DRV_MODE) }

func haveXDPGeneric() error { return haveXDPMode("generic", unix.XDP_FLAGS_SKB_MODE) }

// haveXDPMode attaches by netlink, which every kernel with XDP has.
func haveXDPMode(mode string, flags int) error {
	return onVeth(func(veth netlink.Link) error {
		prog, err := load(ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: returns(xdpPass)})
		if err != nil {
			return err
		}
		defer prog.Close()

		if err := netlink.LinkSetXdpFdWithFlags(veth, prog.FD(), flags); err != nil {
			return lackingIf(fmt.Errorf("attach in %s mode: %w", mode, err), unix.EOPNOTSUPP, unix.EINVAL)
		}
		return nil
	})
}

func haveXDPLink() error {
	return onVeth(func(veth netlink.Link) error {
		prog, err := load(ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: returns(xdpPass)})
		if err != nil {
			return err
		}
		defer prog.Close()

		l, err := link.AttachXDP(link.XDPOptions{Program: prog, Interface: veth.Attrs().Index})
		if err != nil {
			return lackingIf(err, unix.EINVAL)
		}
		return l.Close()
	})
}

func haveTCX() error {
	return onVeth(func(veth netlink.Link) error {
		prog, err := load(ebpf.ProgramSpec{Type: ebpf.SchedCLS})
		if err != nil {
			return err
		}
		defer prog.Close()

		l, err := link.AttachTCX(link.TCXOptions{
			Program:   prog,
			Interface: veth.Attrs().Index,
			Attach:    ebpf.AttachTCXIngress,
		})
		if err != nil {
			return err
		}
		return l.Close()
	})
}
