package object

import (
	"strings"

	"github.com/cilium/ebpf"
)

// TypeName spells a program type as bpftool does.
func TypeName(t ebpf.ProgramType) string {
	if name, ok := typeNames[t]; ok {
		return name
	}
	return strings.ToLower(t.String())
}

// typeNames are the names of libbpf_bpf_prog_type_str.
var typeNames = map[ebpf.ProgramType]string{
	ebpf.UnspecifiedProgram:    "unspec",
	ebpf.SocketFilter:          "socket_filter",
	ebpf.Kprobe:                "kprobe",
	ebpf.SchedCLS:              "sched_cls",
	ebpf.SchedACT:              "sched_act",
	ebpf.TracePoint:            "tracepoint",
	ebpf.XDP:                   "xdp",
	ebpf.PerfEvent:             "perf_event",
	ebpf.CGroupSKB:             "cgroup_skb",
	ebpf.CGroupSock:            "cgroup_sock",
	ebpf.LWTIn:                 "lwt_in",
	ebpf.LWTOut:                "lwt_out",
	ebpf.LWTXmit:               "lwt_xmit",
	ebpf.SockOps:               "sock_ops",
	ebpf.SkSKB:                 "sk_skb",
	ebpf.CGroupDevice:          "cgroup_device",
	ebpf.SkMsg:                 "sk_msg",
	ebpf.RawTracepoint:         "raw_tracepoint",
	ebpf.CGroupSockAddr:        "cgroup_sock_addr",
	ebpf.LWTSeg6Local:          "lwt_seg6local",
	ebpf.LircMode2:             "lirc_mode2",
	ebpf.SkReuseport:           "sk_reuseport",
	ebpf.FlowDissector:         "flow_dissector",
	ebpf.CGroupSysctl:          "cgroup_sysctl",
	ebpf.RawTracepointWritable: "raw_tracepoint_writable",
	ebpf.CGroupSockopt:         "cgroup_sockopt",
	ebpf.Tracing:               "tracing",
	ebpf.StructOps:             "struct_ops",
	ebpf.Extension:             "ext",
	ebpf.LSM:                   "lsm",
	ebpf.SkLookup:              "sk_lookup",
	ebpf.Syscall:               "syscall",
	ebpf.Netfilter:             "netfilter",
}
