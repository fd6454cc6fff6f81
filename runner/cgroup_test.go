package runner

import (
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

func TestCgroupProgramsRunForEachMessageOrCall(t *testing.T) {
	testenv.Plain(t)
	tcp, udp, free := bench.Exchange{Protocol: bench.ProtocolTCP}, bench.Exchange{Protocol: bench.ProtocolUDP}, bench.Exchange{}
	udp6 := bench.Exchange{Protocol: bench.ProtocolUDP, IPv6: true}
	c := func(name string, typ ebpf.ProgramType, attach ebpf.AttachType, talk bench.Exchange, runs uint64) hookCase {
		return hookCase{name, typ, attach, bench.DriverCgroup, talk, runs}
	}
	runsEach(t, []hookCase{
		c("cgroup_skb/ingress", ebpf.CGroupSKB, ebpf.AttachCGroupInetIngress, udp, 1),
		c("cgroup_skb/ingress", ebpf.CGroupSKB, ebpf.AttachCGroupInetIngress, udp6, 1),
		c("cgroup_skb/ingress", ebpf.CGroupSKB, ebpf.AttachCGroupInetIngress, tcp, 2),
		c("cgroup_skb/egress", ebpf.CGroupSKB, ebpf.AttachCGroupInetEgress, udp, 1),
		c("cgroup_skb/egress", ebpf.CGroupSKB, ebpf.AttachCGroupInetEgress, tcp, 2),
		c("cgroup/sock_create", ebpf.CGroupSock, ebpf.AttachCGroupInetSockCreate, tcp, 1),
		c("cgroup/sock_release", ebpf.CGroupSock, ebpf.AttachCgroupInetSockRelease, udp, 1),
		c("cgroup/post_bind4", ebpf.CGroupSock, ebpf.AttachCGroupInet4PostBind, free, 1),
		c("cgroup/post_bind6", ebpf.CGroupSock, ebpf.AttachCGroupInet6PostBind, free, 1),
		c("cgroup/bind4", ebpf.CGroupSockAddr, ebpf.AttachCGroupInet4Bind, free, 1),
		c("cgroup/bind6", ebpf.CGroupSockAddr, ebpf.AttachCGroupInet6Bind, free, 1),
		c("cgroup/connect4", ebpf.CGroupSockAddr, ebpf.AttachCGroupInet4Connect, tcp, 1),
		c("cgroup/connect4", ebpf.CGroupSockAddr, ebpf.AttachCGroupInet4Connect, udp, 1),
		c("cgroup/connect6", ebpf.CGroupSockAddr, ebpf.AttachCGroupInet6Connect, free, 1),
		c("cgroup/connect_unix", ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixConnect, free, 1),
		c("cgroup/sendmsg4", ebpf.CGroupSockAddr, ebpf.AttachCGroupUDP4Sendmsg, free, 1),
		c("cgroup/sendmsg6", ebpf.CGroupSockAddr, ebpf.AttachCGroupUDP6Sendmsg, free, 1),
		c("cgroup/sendmsg_unix", ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixSendmsg, free, 1),
		c("cgroup/recvmsg4", ebpf.CGroupSockAddr, ebpf.AttachCGroupUDP4Recvmsg, free, 1),
		c("cgroup/recvmsg6", ebpf.CGroupSockAddr, ebpf.AttachCGroupUDP6Recvmsg, free, 1),
		c("cgroup/recvmsg_unix", ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixRecvmsg, free, 1),
		c("cgroup/getpeername4", ebpf.CGroupSockAddr, ebpf.AttachCgroupInet4GetPeername, free, 1),
		c("cgroup/getpeername6", ebpf.CGroupSockAddr, ebpf.AttachCgroupInet6GetPeername, free, 1),
		c("cgroup/getpeername_unix", ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixGetpeername, free, 1),
		c("cgroup/getsockname4", ebpf.CGroupSockAddr, ebpf.AttachCgroupInet4GetSockname, free, 1),
		c("cgroup/getsockname6", ebpf.CGroupSockAddr, ebpf.AttachCgroupInet6GetSockname, free, 1),
		c("cgroup/getsockname_unix", ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixGetsockname, free, 1),
		c("cgroup/getsockopt", ebpf.CGroupSockopt, ebpf.AttachCGroupGetsockopt, free, 1),
		c("cgroup/setsockopt", ebpf.CGroupSockopt, ebpf.AttachCGroupSetsockopt, free, 1),
		c("cgroup/sysctl", ebpf.CGroupSysctl, ebpf.AttachCGroupSysctl, free, 1),
		c("cgroup/dev", ebpf.CGroupDevice, ebpf.AttachCGroupDevice, free, 1),
		c("sockops", ebpf.SockOps, ebpf.AttachCGroupSockOps, free, 9),
	})
}
