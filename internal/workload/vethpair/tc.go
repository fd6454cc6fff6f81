package vethpair

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/network"
)

// tcFilter is a program that is a filter of the clsact qdisc and itself decides
// about a packet (direct action). It stays attached until Close or until its
// interface disappears.
type tcFilter struct {
	netlink *netlink.Handle
	qdisc   *netlink.Clsact
	parent  uint32
}

// attachTC attaches a program to a hook of an end, through a clsact qdisc that
// it makes.
func attachTC(e *network.End, hook bench.Hook, prog *ebpf.Program) (_ attachment, err error) {
	f := &tcFilter{parent: netlink.HANDLE_MIN_INGRESS}
	if hook == bench.Egress {
		f.parent = netlink.HANDLE_MIN_EGRESS
	}
	if f.netlink, err = e.Netns.Netlink(); err != nil {
		return nil, err
	}
	qdisc := &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{
		LinkIndex: e.Index, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT,
	}}
	if err = f.netlink.QdiscAdd(qdisc); err != nil {
		return nil, errors.Join(withModules(fmt.Errorf("add clsact qdisc: %w", err)), f.Close())
	}
	f.qdisc = qdisc
	if err = f.Update(prog); err != nil {
		return nil, errors.Join(withModules(err), f.Close())
	}
	return f, nil
}

// withModules adds to an error what may be missing: for a qdisc or a classifier
// that the kernel lacks, the error only says that there is no such thing.
func withModules(err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) {
		return bench.WithHint(err, "the kernel lacks the clsact qdisc or the bpf classifier: try modprobe -a sch_ingress cls_bpf")
	}
	return err
}

func (f *tcFilter) Update(prog *ebpf.Program) error {
	err := f.netlink.FilterReplace(&netlink.BpfFilter{
		FilterAttrs: netlink.FilterAttrs{
			LinkIndex: f.qdisc.LinkIndex, Parent: f.parent,
			Handle: 1, Priority: 1, Protocol: unix.ETH_P_ALL,
		},
		Fd: prog.FD(), Name: "ebpf-bench", DirectAction: true,
	})
	if err != nil {
		return fmt.Errorf("add tc filter: %w", err)
	}
	return nil
}

// Close removes the qdisc with its filter.
func (f *tcFilter) Close() (err error) {
	if f.qdisc != nil {
		err = f.netlink.QdiscDel(f.qdisc)
	}
	f.netlink.Close()
	return err
}

// attachTCX attaches a program to a hook of an end with a link (Linux 6.6).
func attachTCX(e *network.End, hook bench.Hook, prog *ebpf.Program) (attached attachment, err error) {
	at := ebpf.AttachTCXIngress
	if hook == bench.Egress {
		at = ebpf.AttachTCXEgress
	}
	err = e.Netns.Do(func() (err error) {
		attached, err = link.AttachTCX(link.TCXOptions{Program: prog, Interface: e.Index, Attach: at})
		return err
	})
	if errors.Is(err, ebpf.ErrNotSupported) {
		err = bench.WithHint(err, "tcx came with Linux 6.6: mode tc attaches the program on older kernels too")
	}
	if err != nil {
		return nil, err
	}
	return attached, nil
}
