package probe

import (
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// haveTC attaches by netlink, as tc(8) does. Qdisc and filter disappear with
// the interface, and that with its namespace.
func haveTC() error {
	return onLoopback(func(lo netlink.Link) error {
		attach := func(prog *ebpf.Program) (io.Closer, error) { return nothing{}, attachTC(lo, prog) }
		return firesOn(lo, attach)
	})
}

func attachTC(iface netlink.Link, prog *ebpf.Program) error {
	clsact := &netlink.GenericQdisc{
		QdiscAttrs: netlink.QdiscAttrs{
			LinkIndex: iface.Attrs().Index,
			Handle:    netlink.MakeHandle(0xffff, 0),
			Parent:    netlink.HANDLE_CLSACT,
		},
		QdiscType: "clsact",
	}
	if err := netlink.QdiscAdd(clsact); err != nil {
		return lackingIf(fmt.Errorf("add qdisc clsact: %w", err), unix.ENOENT, unix.EOPNOTSUPP)
	}
	filter := &netlink.BpfFilter{
		FilterAttrs: netlink.FilterAttrs{
			LinkIndex: iface.Attrs().Index,
			Parent:    netlink.HANDLE_MIN_INGRESS,
			Protocol:  unix.ETH_P_ALL,
			Priority:  1,
		},
		Fd:           prog.FD(),
		Name:         progName,
		DirectAction: true,
	}
	if err := netlink.FilterAdd(filter); err != nil {
		return lackingIf(fmt.Errorf("add filter bpf: %w", err), unix.ENOENT, unix.EOPNOTSUPP)
	}
	return nil
}

func haveTCX() error {
	return onLoopback(func(lo netlink.Link) error {
		return firesOn(lo, func(prog *ebpf.Program) (io.Closer, error) {
			return link.AttachTCX(link.TCXOptions{
				Program:   prog,
				Interface: lo.Attrs().Index,
				Attach:    ebpf.AttachTCXIngress,
			})
		})
	})
}

// firesOn tries a hook of the network with packets that come in on the loopback
// of the calling thread.
func firesOn(lo netlink.Link, attach func(*ebpf.Program) (io.Closer, error)) error {
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("set lo up: %w", err)
	}
	return fires(ebpf.ProgramSpec{Type: ebpf.SchedCLS}, attach, sendToSelf)
}

// sendToSelf sends a packet to the loopback, where nobody waits for it.
func sendToSelf() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open socket: %w", err)
	}
	defer unix.Close(fd)
	const discard = 9
	return unix.Sendto(fd, []byte("probe"), 0, &unix.SockaddrInet4{Port: discard, Addr: [4]byte{127, 0, 0, 1}})
}
