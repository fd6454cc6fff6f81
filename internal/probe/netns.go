package probe

import (
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/thread"
)

// inNetNS calls fn on a separate thread in a new network namespace. The
// namespace has no name: it ends with the thread, which ends with fn.
func inNetNS(fn func() error) error {
	return thread.Own(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return lackingIf(fmt.Errorf("unshare network: %w", err), unix.EINVAL, unix.ENOSYS)
		}
		return fn()
	})
}

// onLoopback calls fn with the loopback of a new network namespace.
func onLoopback(fn func(lo netlink.Link) error) error {
	return inNetNS(func() error {
		lo, err := netlink.LinkByName("lo")
		if err != nil {
			return fmt.Errorf("find lo: %w", err)
		}
		return fn(lo)
	})
}

// onVeth calls fn with one end of a veth pair in a new network namespace. Both
// ends are up.
func onVeth(fn func(veth netlink.Link) error) error {
	return inNetNS(func() error {
		attrs := netlink.NewLinkAttrs()
		attrs.Name = "probe0"
		veth := &netlink.Veth{LinkAttrs: attrs, PeerName: "probe1"}
		if err := netlink.LinkAdd(veth); err != nil {
			return lackingIf(fmt.Errorf("create veth: %w", err), unix.EOPNOTSUPP)
		}

		peer, err := netlink.LinkByName(veth.PeerName)
		if err != nil {
			return fmt.Errorf("find the veth's peer: %w", err)
		}
		for _, end := range []netlink.Link{veth, peer} {
			if err := netlink.LinkSetUp(end); err != nil {
				return fmt.Errorf("set %s up: %w", end.Attrs().Name, err)
			}
		}
		return fn(veth)
	})
}

func haveNetNS() error {
	return inNetNS(func() error { return nil })
}

func haveVeth() error {
	return onVeth(func(netlink.Link) error { return nil })
}
