package runner

import (
	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload"
)

// cgroupHook is a hook of a cgroup and what triggers it.
type cgroupHook struct {
	name   string
	attach ebpf.AttachType
	// task is what a process of the cgroup does.
	task string
	// protocols are those that the hook sees, the default first.
	protocols []bench.Protocol
	ipv6      bool
}

type cgroupHookKey struct {
	typ    ebpf.ProgramType
	attach ebpf.AttachType
}

var (
	onlyTCP  = []bench.Protocol{bench.ProtocolTCP}
	onlyUDP  = []bench.Protocol{bench.ProtocolUDP}
	tcpOrUDP = []bench.Protocol{bench.ProtocolTCP, bench.ProtocolUDP}
	udpOrTCP = []bench.Protocol{bench.ProtocolUDP, bench.ProtocolTCP}
)

// cgroupHooks are the hooks by what attaches to them. A program that does not
// say where it attaches has the only place for its type, or, as its attach type
// is 0 then, that of ingress.
var cgroupHooks = map[cgroupHookKey]cgroupHook{}

func init() {
	add := func(typ ebpf.ProgramType, attach ebpf.AttachType, name, task string, protocols []bench.Protocol, ipv6 bool) {
		cgroupHooks[cgroupHookKey{typ, attach}] = cgroupHook{name, attach, task, protocols, ipv6}
	}
	add(ebpf.CGroupSKB, ebpf.AttachCGroupInetIngress, "ingress", workload.TaskMessage, udpOrTCP, false)
	add(ebpf.CGroupSKB, ebpf.AttachCGroupInetEgress, "egress", workload.TaskMessage, udpOrTCP, false)

	add(ebpf.CGroupSock, ebpf.AttachCGroupInetSockCreate, "sock_create", workload.TaskSocket, tcpOrUDP, false)
	add(ebpf.CGroupSock, ebpf.AttachCgroupInetSockRelease, "sock_release", workload.TaskSocket, tcpOrUDP, false)
	add(ebpf.CGroupSock, ebpf.AttachCGroupInet4PostBind, "post_bind4", workload.TaskBind, tcpOrUDP, false)
	add(ebpf.CGroupSock, ebpf.AttachCGroupInet6PostBind, "post_bind6", workload.TaskBind, tcpOrUDP, true)

	address := func(attach4, attach6 ebpf.AttachType, name, task string, protocols []bench.Protocol) {
		add(ebpf.CGroupSockAddr, attach4, name+"4", task, protocols, false)
		add(ebpf.CGroupSockAddr, attach6, name+"6", task, protocols, true)
	}
	address(ebpf.AttachCGroupInet4Bind, ebpf.AttachCGroupInet6Bind, "bind", workload.TaskBind, tcpOrUDP)
	address(ebpf.AttachCGroupInet4Connect, ebpf.AttachCGroupInet6Connect, "connect", workload.TaskConnect, tcpOrUDP)
	address(ebpf.AttachCGroupUDP4Sendmsg, ebpf.AttachCGroupUDP6Sendmsg, "sendmsg", workload.TaskSend, onlyUDP)
	address(ebpf.AttachCGroupUDP4Recvmsg, ebpf.AttachCGroupUDP6Recvmsg, "recvmsg", workload.TaskReceive, onlyUDP)
	address(ebpf.AttachCgroupInet4GetPeername, ebpf.AttachCgroupInet6GetPeername, "getpeername", workload.TaskPeerName, tcpOrUDP)
	address(ebpf.AttachCgroupInet4GetSockname, ebpf.AttachCgroupInet6GetSockname, "getsockname", workload.TaskSocketName, tcpOrUDP)

	add(ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixConnect, "connect_unix", workload.TaskUnixConnect, tcpOrUDP, false)
	add(ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixSendmsg, "sendmsg_unix", workload.TaskUnixSend, tcpOrUDP, false)
	add(ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixRecvmsg, "recvmsg_unix", workload.TaskUnixReceive, tcpOrUDP, false)
	add(ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixGetpeername, "getpeername_unix", workload.TaskUnixPeerName, tcpOrUDP, false)
	add(ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixGetsockname, "getsockname_unix", workload.TaskUnixName, tcpOrUDP, false)

	add(ebpf.CGroupSockopt, ebpf.AttachCGroupGetsockopt, "getsockopt", workload.TaskGetOption, tcpOrUDP, false)
	add(ebpf.CGroupSockopt, ebpf.AttachCGroupSetsockopt, "setsockopt", workload.TaskSetOption, tcpOrUDP, false)
	add(ebpf.CGroupSysctl, ebpf.AttachCGroupSysctl, "sysctl", workload.TaskReadSysctl, tcpOrUDP, false)
	add(ebpf.CGroupDevice, ebpf.AttachCGroupDevice, "dev", workload.TaskOpenDevice, tcpOrUDP, false)
	add(ebpf.SockOps, ebpf.AttachCGroupSockOps, "sockops", workload.TaskConnectOwn, onlyTCP, false)
}
