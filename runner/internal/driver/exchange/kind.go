// Package exchange drives programs of cgroups and of sockets by messages that a process
// and its peer in another network namespace send each other.
package exchange

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/sockets"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

func init() {
	plan.Register(bench.DriverCgroup, &plan.Kind{
		Open: openCgroup,
		Default: func(j *plan.Job) (bool, string) {
			switch j.ProgramSpec().Type {
			case ebpf.CGroupSock, ebpf.CGroupSockAddr, ebpf.CGroupSockopt, ebpf.CGroupSysctl, ebpf.CGroupDevice, ebpf.SockOps:
				return true, ""
			}
			return false, ""
		},
		Check: func(j *plan.Job) error {
			_, _, err := cgroupTalk(j)
			return err
		},
		Alike:   func(j *plan.Job) string { return fmt.Sprintf("cgroup %+v", *j.Cgroup) },
		Settle:  settle,
		Sampled: true,
		NeverRan: func(*plan.Job) string {
			return "what the cgroup's process did never reached the hook: a program of a cgroup above may refuse it, and cgroup v1's net_cls or net_prio keeps Linux before 5.15 from knowing a socket's cgroup"
		},
	})
	plan.Register(bench.DriverSocket, &plan.Kind{
		Open: openSocket,
		Default: func(j *plan.Job) (bool, string) {
			switch j.ProgramSpec().Type {
			case ebpf.SkMsg, ebpf.SkSKB, ebpf.SkReuseport, ebpf.SkLookup:
				return true, ""
			}
			return false, ""
		},
		Check: func(j *plan.Job) error {
			hook, _, err := socketTalk(j)
			if err == nil && hook.maps != nil {
				warnOfSockets(j, hook.maps)
			}
			return err
		},
		Alike:   func(j *plan.Job) string { return fmt.Sprintf("socket %+v", *j.Socket) },
		Settle:  settle,
		Sampled: true,
		NeverRan: func(*plan.Job) string {
			return "no message reached the program: the kernel may lack CONFIG_BPF_STREAM_PARSER, or another program is attached in its way"
		},
	})
}

// settle returns few messages and calls, of which some take 200 µs.
func settle(*plan.Job) (runs, most int) { return 1 << 5, 1 << 5 }

// cgroupTalk returns the job's hook and the exchange that triggers it.
func cgroupTalk(j *plan.Job) (cgroupHook, bench.Exchange, error) {
	p := j.ProgramSpec()
	hook, ok := cgroupHooks[cgroupHookKey{p.Type, p.AttachType}]
	if !ok {
		return hook, bench.Exchange{}, errors.New("cgroup drives cgroup_skb, cgroup_sock, cgroup_sock_addr, cgroup_sockopt, cgroup_sysctl, cgroup_device and sock_ops programs")
	}
	talk, err := talkOf(j.Cgroup, hook.name, hook.ipv6, hook.protocols...)
	return hook, talk, err
}

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

// cgroupHooks are the hooks by what attaches to them. A program without an
// attach type has the only hook of its type or, as the zero attach type means
// that, ingress.
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

// socketHook is the way in which programs of a type see what sockets do.
type socketHook struct {
	name string
	// protocols are those that the hook sees, the default first.
	protocols []bench.Protocol
	// maps are the types of maps that get the tool's own sockets.
	maps []ebpf.MapType
}

// Types of maps that hold sockets. A program may use several of socketMaps, and
// one of reuseportMaps.
var (
	socketMaps    = []ebpf.MapType{ebpf.SockMap, ebpf.SockHash}
	reuseportMaps = []ebpf.MapType{ebpf.ReusePortSockArray}
)

// socketHookOf returns the hook of a program, false if it has none here.
func socketHookOf(p *ebpf.ProgramSpec) (socketHook, bool) {
	switch p.Type {
	case ebpf.SkMsg:
		return socketHook{"sk_msg", onlyTCP, socketMaps}, true
	case ebpf.SkSKB:
		if p.AttachType == ebpf.AttachSkSKBVerdict {
			return socketHook{"sk_skb/verdict", tcpOrUDP, socketMaps}, true
		}
		return socketHook{"sk_skb", onlyTCP, socketMaps}, true
	case ebpf.SkReuseport:
		return socketHook{"sk_reuseport", udpOrTCP, reuseportMaps}, true
	case ebpf.SkLookup:
		return socketHook{"sk_lookup", udpOrTCP, socketMaps}, true
	case ebpf.SocketFilter:
		return socketHook{"socket filter", udpOrTCP, nil}, true
	}
	return socketHook{}, false
}

// socketTalk returns the job's hook and the exchange of its sockets.
func socketTalk(j *plan.Job) (socketHook, bench.Exchange, error) {
	hook, ok := socketHookOf(j.ProgramSpec())
	if !ok {
		return hook, bench.Exchange{}, errors.New("socket drives sk_msg, sk_skb, sk_reuseport, sk_lookup and socket_filter programs; cgroup drives sock_ops and those of cgroups")
	}
	talk, err := talkOf(j.Socket, hook.name, false, hook.protocols...)
	return hook, talk, err
}

// talkOf returns a benchmark's exchange and fills in what depends on the
// program's hook: the protocol, which must be one that the hook sees, and the
// IP version if each has its own hook.
func talkOf(e *bench.Exchange, hook string, ipv6 bool, protocols ...bench.Protocol) (bench.Exchange, error) {
	talk := *e
	talk.IPv6 = e.IPv6 || ipv6
	if talk.Protocol == "" {
		talk.Protocol = protocols[0]
	}
	if !slices.Contains(protocols, talk.Protocol) {
		return talk, fmt.Errorf("%s sees no %s", hook, talk.Protocol)
	}
	return talk, nil
}

// warnOfSockets warns which maps of the job's program are filled with the
// tool's sockets, which the program may expect to be its agent's.
func warnOfSockets(j *plan.Job, types []ebpf.MapType) {
	var names []string
	for name, m := range j.Spec.Maps {
		if slices.Contains(types, m.Type) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) > 1 && slices.Equal(types, reuseportMaps) {
		names = names[:1] // a socket can be in only one of them
	}
	subject := "map %s holds"
	switch len(names) {
	case 0:
		return
	case 1:
	default:
		subject = "maps %s hold"
	}
	j.Warnings = append(j.Warnings, fmt.Sprintf(subject+" sockets of the exchange at the keys 0, 1 and so on: under other keys the program finds none", strings.Join(names, ", ")))
}
