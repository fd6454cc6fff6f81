// Package network makes isolated networks: network namespaces, which end with
// the tool, and the ends of veth pairs that join them.
package network

import (
	"errors"
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/thread"
)

// Netns is a network namespace without a name: only a file descriptor keeps it
// alive. So it ends with the tool, even if the tool is killed, and so do the
// interfaces and attached programs in it.
type Netns struct {
	file *os.File
}

// NewNetns makes a network namespace. No thread of the tool stays in it.
func NewNetns() (*Netns, error) {
	ns := new(Netns)
	err := thread.Own(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		ns.file, err = os.Open("/proc/thread-self/ns/net")
		return err
	})
	if errors.Is(err, unix.EPERM) {
		err = bench.WithHint(err, "making a network namespace takes root, or CAP_SYS_ADMIN")
	}
	if err != nil {
		return nil, fmt.Errorf("make network namespace: %w", err)
	}
	return ns, nil
}

// NetnsOf returns the namespace of a file, such as one that [Netns.File] made
// and this process inherited.
func NetnsOf(f *os.File) *Netns { return &Netns{file: f} }

// Do calls fn on a thread that is inside the namespace. What fn opens there
// (sockets, links) stays there, whichever thread uses it later on.
func (ns *Netns) Do(fn func() error) error {
	return thread.Own(func() error {
		if err := unix.Setns(ns.FD(), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace: %w", err)
		}
		return fn()
	})
}

// Netlink opens a netlink handle for the namespace, which any thread can use.
func (ns *Netns) Netlink() (*netlink.Handle, error) {
	return netlink.NewHandleAt(netns.NsHandle(ns.FD()), unix.NETLINK_ROUTE)
}

// Close releases the namespace. The kernel removes it in its own time, with
// everything in it.
func (ns *Netns) Close() error {
	return ns.file.Close()
}

// File returns a copy of the file that keeps the namespace alive.
func (ns *Netns) File() (*os.File, error) {
	fd, err := unix.FcntlInt(ns.file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("copy a network namespace: %w", err)
	}
	return os.NewFile(uintptr(fd), "netns"), nil
}

// FD returns the descriptor of the file that keeps the namespace alive.
func (ns *Netns) FD() int {
	return int(ns.file.Fd())
}
