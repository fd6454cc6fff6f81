package runner

import (
	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/sockets"
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
	add(ebpf.CGroupSKB, ebpf.AttachCGroupInetIngress, "ingress", sockets.TaskMessage, udpOrTCP, false)
	add(ebpf.CGroupSKB, ebpf.AttachCGroupInetEgress, "egress", sockets.TaskMessage, udpOrTCP, false)

	add(ebpf.CGroupSock, ebpf.AttachCGroupInetSockCreate, "sock_create", sockets.TaskSocket, tcpOrUDP, false)
	add(ebpf.CGroupSock, ebpf.AttachCgroupInetSockRelease, "sock_release", sockets.TaskSocket, tcpOrUDP, false)
	add(ebpf.CGroupSock, ebpf.AttachCGroupInet4PostBind, "post_bind4", sockets.TaskBind, tcpOrUDP, false)
	add(ebpf.CGroupSock, ebpf.AttachCGroupInet6PostBind, "post_bind6", sockets.TaskBind, tcpOrUDP, true)

	address := func(attach4, attach6 ebpf.AttachType, name, task string, protocols []bench.Protocol) {
		add(ebpf.CGroupSockAddr, attach4, name+"4", task, protocols, false)
		add(ebpf.CGroupSockAddr, attach6, name+"6", task, protocols, true)
	}
	address(ebpf.AttachCGroupInet4Bind, ebpf.AttachCGroupInet6Bind, "bind", sockets.TaskBind, tcpOrUDP)
	address(ebpf.AttachCGroupInet4Connect, ebpf.AttachCGroupInet6Connect, "connect", sockets.TaskConnect, tcpOrUDP)
	address(ebpf.AttachCGroupUDP4Sendmsg, ebpf.AttachCGroupUDP6Sendmsg, "sendmsg", sockets.TaskSend, onlyUDP)
	address(ebpf.AttachCGroupUDP4Recvmsg, ebpf.AttachCGroupUDP6Recvmsg, "recvmsg", sockets.TaskReceive, onlyUDP)
	address(ebpf.AttachCgroupInet4GetPeername, ebpf.AttachCgroupInet6GetPeername, "getpeername", sockets.TaskPeerName, tcpOrUDP)
	address(ebpf.AttachCgroupInet4GetSockname, ebpf.AttachCgroupInet6GetSockname, "getsockname", sockets.TaskSocketName, tcpOrUDP)

	add(ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixConnect, "connect_unix", sockets.TaskUnixConnect, tcpOrUDP, false)
	add(ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixSendmsg, "sendmsg_unix", sockets.TaskUnixSend, tcpOrUDP, false)
	add(ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixRecvmsg, "recvmsg_unix", sockets.TaskUnixReceive, tcpOrUDP, false)
	add(ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixGetpeername, "getpeername_unix", sockets.TaskUnixPeerName, tcpOrUDP, false)
	add(ebpf.CGroupSockAddr, ebpf.AttachCgroupUnixGetsockname, "getsockname_unix", sockets.TaskUnixName, tcpOrUDP, false)

	add(ebpf.CGroupSockopt, ebpf.AttachCGroupGetsockopt, "getsockopt", sockets.TaskGetOption, tcpOrUDP, false)
	add(ebpf.CGroupSockopt, ebpf.AttachCGroupSetsockopt, "setsockopt", sockets.TaskSetOption, tcpOrUDP, false)
	add(ebpf.CGroupSysctl, ebpf.AttachCGroupSysctl, "sysctl", sockets.TaskReadSysctl, tcpOrUDP, false)
	add(ebpf.CGroupDevice, ebpf.AttachCGroupDevice, "dev", sockets.TaskOpenDevice, tcpOrUDP, false)
	add(ebpf.SockOps, ebpf.AttachCGroupSockOps, "sockops", sockets.TaskConnectOwn, onlyTCP, false)
}
