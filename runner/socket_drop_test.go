package runner

import (
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// A program that drops everything still runs for each message, and no round
// waits for answers that never come.
func TestProgramsThatDropEverythingRun(t *testing.T) {
	testenv.Plain(t)
	tcp, udp := bench.Exchange{Protocol: bench.ProtocolTCP}, bench.Exchange{Protocol: bench.ProtocolUDP}
	for _, c := range []hookCase{
		{"sk_msg", ebpf.SkMsg, ebpf.AttachSkMsgVerdict, bench.DriverSocket, tcp, 1},
		{"sk_skb/stream_verdict", ebpf.SkSKB, ebpf.AttachSkSKBStreamVerdict, bench.DriverSocket, tcp, 1},
		{"sk_reuseport", ebpf.SkReuseport, ebpf.AttachSkReuseportSelect, bench.DriverSocket, udp, 1},
		{"sk_reuseport/tcp", ebpf.SkReuseport, ebpf.AttachSkReuseportSelect, bench.DriverSocket, tcp, 1},
		{"sk_lookup", ebpf.SkLookup, ebpf.AttachSkLookup, bench.DriverSocket, udp, 1},
		{"sk_lookup/tcp", ebpf.SkLookup, ebpf.AttachSkLookup, bench.DriverSocket, tcp, 1},
		{"socket", ebpf.SocketFilter, ebpf.AttachNone, bench.DriverSocket, udp, 1},
		{"cgroup_skb/ingress", ebpf.CGroupSKB, ebpf.AttachCGroupInetIngress, bench.DriverCgroup, udp, 1},
		{"cgroup_skb/egress", ebpf.CGroupSKB, ebpf.AttachCGroupInetEgress, bench.DriverCgroup, udp, 1},
		{"cgroup/connect4", ebpf.CGroupSockAddr, ebpf.AttachCGroupInet4Connect, bench.DriverCgroup, tcp, 1},
		{"cgroup/sock_create", ebpf.CGroupSock, ebpf.AttachCGroupInetSockCreate, bench.DriverCgroup, tcp, 1},
		{"cgroup/dev", ebpf.CGroupDevice, ebpf.AttachCGroupDevice, bench.DriverCgroup, tcp, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, s := range slicesOf(t, c.jobOf(0), 3) {
				// If nobody answers a stream, a busy kernel passes on several
				// messages at once.
				together := c.typ == ebpf.SkSKB && s.RunCnt > 0 && s.RunCnt < c.runs*messagesOfTest
				if s.RunCnt != c.runs*messagesOfTest && !together {
					t.Errorf("slice %d has %d runs for %d messages, want %d each", i, s.RunCnt, messagesOfTest, c.runs)
				}
				if s.Done != 0 || s.Tried != messagesOfTest {
					t.Errorf("slice %d: %d of %d messages came off, want none of %d", i, s.Done, s.Tried, messagesOfTest)
				}
			}
		})
	}
}

// TCP would resend what is dropped, for minutes.
func TestPacketsByTCPMustNotBeDropped(t *testing.T) {
	testenv.Root(t)
	tcp := bench.Exchange{Protocol: bench.ProtocolTCP}
	for _, c := range []hookCase{
		{"cgroup_skb/ingress", ebpf.CGroupSKB, ebpf.AttachCGroupInetIngress, bench.DriverCgroup, tcp, 0},
		{"socket", ebpf.SocketFilter, ebpf.AttachNone, bench.DriverSocket, tcp, 0},
	} {
		env := &driver.Environment{}
		defer env.LeaveHooks()
		s, err := subject.Open(t.Context(), env, c.jobOf(0))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Slice(t.Context())
		s.Close()
		if err == nil || err.Error() != "0 of 20 messages were answered: no progress for 2s: no answer" ||
			!strings.Contains(bench.Hint(err), "protocol: udp") {
			t.Errorf("%s: got %v, hint %q", c.name, err, bench.Hint(err))
		}
	}
}

func TestAHookSeesItsOwnProtocolOnly(t *testing.T) {
	tcp, udp := bench.Exchange{Protocol: bench.ProtocolTCP}, bench.Exchange{Protocol: bench.ProtocolUDP}
	for _, c := range []struct {
		hookCase
		want string
	}{
		{hookCase{"sk_msg", ebpf.SkMsg, ebpf.AttachSkMsgVerdict, bench.DriverSocket, udp, 0}, "sk_msg sees no udp"},
		{hookCase{"sendmsg", ebpf.CGroupSockAddr, ebpf.AttachCGroupUDP4Sendmsg, bench.DriverCgroup, tcp, 0}, "sendmsg4 sees no tcp"},
		{hookCase{"sockops", ebpf.SockOps, ebpf.AttachCGroupSockOps, bench.DriverCgroup, udp, 0}, "sockops sees no udp"},
		{hookCase{"xdp", ebpf.XDP, ebpf.AttachXDP, bench.DriverCgroup, tcp, 0}, "cgroup drives cgroup_skb,"},
		{hookCase{"xdp", ebpf.XDP, ebpf.AttachXDP, bench.DriverSocket, tcp, 0}, "socket drives sk_msg,"},
	} {
		if err := c.jobOf(1).CheckDriver(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
