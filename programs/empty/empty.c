// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// An empty program of each type, named after the type as bpftool spells it. It
// returns the verdict that leaves things as they would be without a program,
// where its type has one. Types that load only for a given kernel function are
// left out.

#include "kernel.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define EMPTY(type, section, verdict)                                          \
	SEC(section)                                                           \
	int empty_##type(void *ctx)                                            \
	{                                                                      \
		return verdict;                                                \
	}

EMPTY(xdp, "xdp", XDP_PASS)
EMPTY(sched_cls, "tc", TC_ACT_UNSPEC)
EMPTY(sched_act, "action", TC_ACT_UNSPEC)
EMPTY(socket_filter, "socket", WHOLE_PACKET)
// Linux 5.10 cannot hand back to its own dissector: this one finds no flow.
EMPTY(flow_dissector, "flow_dissector", BPF_OK)

EMPTY(perf_event, "perf_event", 0)
EMPTY(kprobe, "kprobe", 0)
EMPTY(tracepoint, "tracepoint", 0)
EMPTY(raw_tracepoint, "raw_tracepoint", 0)

EMPTY(cgroup_skb, "cgroup/skb", CGROUP_ALLOW)
EMPTY(cgroup_sock, "cgroup/sock_create", CGROUP_ALLOW)
EMPTY(cgroup_sock_addr, "cgroup/connect4", CGROUP_ALLOW)
EMPTY(cgroup_sockopt, "cgroup/getsockopt", CGROUP_ALLOW)
EMPTY(cgroup_sysctl, "cgroup/sysctl", CGROUP_ALLOW)
EMPTY(cgroup_device, "cgroup/dev", CGROUP_ALLOW)
EMPTY(sock_ops, "sockops", CGROUP_ALLOW)

EMPTY(sk_skb, "sk_skb/stream_verdict", SK_PASS)
EMPTY(sk_msg, "sk_msg", SK_PASS)
EMPTY(sk_lookup, "sk_lookup", SK_PASS)
EMPTY(sk_reuseport, "sk_reuseport", SK_PASS)

EMPTY(lwt_in, "lwt_in", BPF_OK)
EMPTY(lwt_out, "lwt_out", BPF_OK)
EMPTY(lwt_xmit, "lwt_xmit", BPF_OK)
EMPTY(lwt_seg6local, "lwt_seg6local", BPF_OK)
