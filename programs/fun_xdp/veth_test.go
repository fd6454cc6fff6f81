//go:build linux

package funxdp

import (
	"maps"
	"net/netip"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// newVeth makes a veth pair in a new network namespace, and moves the test's
// thread there. Frames that send sends from one end arrive at the other.
func newVeth(tb testing.TB) (iface *netlink.Veth, send func(frame []byte)) {
	tb.Helper()
	testenv.Root(tb)

	// The thread is never unlocked: it ends with the test's goroutine, and so
	// no other goroutine ever runs in the namespace.
	runtime.LockOSThread()
	ns, err := netns.New()
	if err != nil {
		tb.Fatal("make network namespace:", err)
	}
	tb.Cleanup(func() { ns.Close() })

	iface = &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "fun"}, PeerName: "peer"}
	if err := netlink.LinkAdd(iface); err != nil {
		tb.Fatal("add veth:", err)
	}
	peer, err := netlink.LinkByName(iface.PeerName)
	if err != nil {
		tb.Fatal(err)
	}
	for _, end := range []netlink.Link{iface, peer} {
		if err := netlink.LinkSetUp(end); err != nil {
			tb.Fatal("set veth up:", err)
		}
	}

	socket, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal("open packet socket:", err)
	}
	tb.Cleanup(func() { unix.Close(socket) })

	return iface, func(frame []byte) {
		tb.Helper()
		to := &unix.SockaddrLinklayer{Ifindex: peer.Attrs().Index}
		if err := unix.Sendto(socket, frame, 0, to); err != nil {
			tb.Fatal("send:", err)
		}
	}
}

// eventually waits for something that the kernel does in its own time.
func eventually(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatal("timed out waiting for", what)
		}
	}
}

func attached(tb testing.TB, iface *netlink.Veth) bool {
	tb.Helper()
	link, err := netlink.LinkByIndex(iface.Index)
	if err != nil {
		tb.Fatal(err)
	}
	xdp := link.Attrs().Xdp
	return xdp != nil && xdp.Attached
}

func TestAgentSeesPacketsOfAnInterface(t *testing.T) {
	iface, send := newVeth(t)
	agent := newTestAgent(t)
	if err := agent.Attach(bpfProgFunXdpBasic, iface.Name); err != nil {
		t.Fatal(err)
	}
	stop := start(t, agent)

	want := map[netip.Addr]uint64{addr(1): 10, netip.MustParseAddr("10.0.0.254"): 20}
	for src, n := range want {
		for range n {
			send(frame(src))
		}
	}
	eventually(t, "packets to be counted", func() bool {
		got, err := agent.Sources()
		return err == nil && maps.Equal(got, want)
	})
	stop()
}

func TestAgentDetachesWhenItStops(t *testing.T) {
	iface, send := newVeth(t)
	agent := newTestAgent(t)
	if err := agent.Attach(bpfProgFunXdpFizzbuzz, strconv.Itoa(iface.Index)); err != nil {
		t.Fatal(err)
	}
	if err := agent.Attach(bpfProgFunXdpFizz, iface.Name); err == nil {
		t.Error("want an error from a second attach")
	}
	if !attached(t, iface) {
		t.Error("program is not attached")
	}
	stop := start(t, agent)

	for source := uint32(1); source <= 15; source++ {
		send(frame(addr(source)))
	}
	want := map[Event]uint64{Fizz: 4, Buzz: 2, FizzBuzz: 1}
	eventually(t, "events", func() bool { return maps.Equal(agent.Counts().Events, want) })
	stop()

	if attached(t, iface) {
		t.Error("program is still attached")
	}
}
