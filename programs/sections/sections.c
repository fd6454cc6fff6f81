// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// A program for each section name by which objects say what type a program is
// of, as libbpf spells them. Each returns what leaves things as they would be
// without it, and hooks what every kernel has.

#include "kernel.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define HOOK(name, section, verdict)                                           \
	SEC(section)                                                           \
	int on_##name(void *ctx)                                                    \
	{                                                                      \
		return verdict;                                                \
	}

HOOK(socket, "socket", WHOLE_PACKET)
HOOK(xdp, "xdp", XDP_PASS)
HOOK(xdp_frags, "xdp.frags", XDP_PASS)
HOOK(xdp_devmap, "xdp/devmap", XDP_PASS)
HOOK(xdp_cpumap, "xdp/cpumap", XDP_PASS)
HOOK(tc, "tc", TC_ACT_UNSPEC)
HOOK(tcx_ingress, "tcx/ingress", TC_ACT_UNSPEC)
HOOK(tcx_egress, "tcx/egress", TC_ACT_UNSPEC)
HOOK(netkit_primary, "netkit/primary", TC_ACT_UNSPEC)
HOOK(netkit_peer, "netkit/peer", TC_ACT_UNSPEC)
HOOK(action, "action", TC_ACT_UNSPEC)
HOOK(lwt_in, "lwt_in", BPF_OK)
HOOK(lwt_out, "lwt_out", BPF_OK)
HOOK(lwt_xmit, "lwt_xmit", BPF_OK)
HOOK(lwt_seg6local, "lwt_seg6local", BPF_OK)
HOOK(flow_dissector, "flow_dissector", BPF_OK)
HOOK(netfilter, "netfilter", NF_ACCEPT)
HOOK(sk_lookup, "sk_lookup", SK_PASS)
HOOK(sk_reuseport, "sk_reuseport", SK_PASS)
HOOK(sk_reuseport_migrate, "sk_reuseport/migrate", SK_PASS)
HOOK(sk_msg, "sk_msg", SK_PASS)
HOOK(sk_skb_verdict, "sk_skb/verdict", SK_PASS)
HOOK(sk_skb_stream_verdict, "sk_skb/stream_verdict", SK_PASS)

// A parser says how long the message is.
SEC("sk_skb/stream_parser")
int on_sk_skb_stream_parser(struct __sk_buff *skb)
{
	return skb->len;
}

HOOK(sockops, "sockops", CGROUP_ALLOW)
HOOK(cgroup_skb_ingress, "cgroup_skb/ingress", CGROUP_ALLOW)
HOOK(cgroup_skb_egress, "cgroup_skb/egress", CGROUP_ALLOW)
HOOK(cgroup_sock_create, "cgroup/sock_create", CGROUP_ALLOW)
HOOK(cgroup_sock_release, "cgroup/sock_release", CGROUP_ALLOW)
HOOK(cgroup_post_bind4, "cgroup/post_bind4", CGROUP_ALLOW)
HOOK(cgroup_post_bind6, "cgroup/post_bind6", CGROUP_ALLOW)
HOOK(cgroup_bind4, "cgroup/bind4", CGROUP_ALLOW)
HOOK(cgroup_bind6, "cgroup/bind6", CGROUP_ALLOW)
HOOK(cgroup_connect4, "cgroup/connect4", CGROUP_ALLOW)
HOOK(cgroup_connect6, "cgroup/connect6", CGROUP_ALLOW)
HOOK(cgroup_connect_unix, "cgroup/connect_unix", CGROUP_ALLOW)
HOOK(cgroup_sendmsg4, "cgroup/sendmsg4", CGROUP_ALLOW)
HOOK(cgroup_sendmsg6, "cgroup/sendmsg6", CGROUP_ALLOW)
HOOK(cgroup_sendmsg_unix, "cgroup/sendmsg_unix", CGROUP_ALLOW)
HOOK(cgroup_recvmsg4, "cgroup/recvmsg4", CGROUP_ALLOW)
HOOK(cgroup_recvmsg6, "cgroup/recvmsg6", CGROUP_ALLOW)
HOOK(cgroup_recvmsg_unix, "cgroup/recvmsg_unix", CGROUP_ALLOW)
HOOK(cgroup_getpeername4, "cgroup/getpeername4", CGROUP_ALLOW)
HOOK(cgroup_getpeername6, "cgroup/getpeername6", CGROUP_ALLOW)
HOOK(cgroup_getpeername_unix, "cgroup/getpeername_unix", CGROUP_ALLOW)
HOOK(cgroup_getsockname4, "cgroup/getsockname4", CGROUP_ALLOW)
HOOK(cgroup_getsockname6, "cgroup/getsockname6", CGROUP_ALLOW)
HOOK(cgroup_getsockname_unix, "cgroup/getsockname_unix", CGROUP_ALLOW)
HOOK(cgroup_sysctl, "cgroup/sysctl", CGROUP_ALLOW)
HOOK(cgroup_getsockopt, "cgroup/getsockopt", CGROUP_ALLOW)
HOOK(cgroup_setsockopt, "cgroup/setsockopt", CGROUP_ALLOW)
HOOK(cgroup_dev, "cgroup/dev", CGROUP_ALLOW)

HOOK(perf_event, "perf_event", 0)
HOOK(tracepoint, "tracepoint/syscalls/sys_enter_getppid", 0)
HOOK(raw_tracepoint, "raw_tracepoint/sched_switch", 0)
HOOK(raw_tracepoint_w, "raw_tracepoint.w/sched_switch", 0)
HOOK(tp_btf, "tp_btf/sched_switch", 0)
HOOK(kprobe, "kprobe/vfs_read", 0)
HOOK(kretprobe, "kretprobe/vfs_read", 0)
HOOK(kprobe_multi, "kprobe.multi/vfs_read", 0)
HOOK(kretprobe_multi, "kretprobe.multi/vfs_read", 0)
HOOK(kprobe_session, "kprobe.session/vfs_read", 0)
HOOK(ksyscall, "ksyscall/getppid", 0)
HOOK(kretsyscall, "kretsyscall/getppid", 0)
HOOK(uprobe, "uprobe", 0)
HOOK(uretprobe, "uretprobe", 0)
HOOK(uprobe_multi, "uprobe.multi", 0)
HOOK(uretprobe_multi, "uretprobe.multi", 0)
HOOK(uprobe_session, "uprobe.session", 0)
HOOK(usdt, "usdt", 0)
HOOK(fentry, "fentry/vfs_read", 0)
HOOK(fexit, "fexit/vfs_read", 0)
HOOK(fmod_ret, "fmod_ret/security_file_open", 0)
HOOK(fsession, "fsession/vfs_read", 0)
HOOK(lsm, "lsm/file_open", 0)
HOOK(lsm_sleepable, "lsm.s/file_open", 0)
HOOK(lsm_cgroup, "lsm_cgroup/socket_bind", CGROUP_ALLOW)
HOOK(iter, "iter/task", 0)
HOOK(iter_sleepable, "iter.s/task", 0)
HOOK(syscall, "syscall", 0)
HOOK(freplace, "freplace/subprogram", 0)
HOOK(lirc_mode2, "lirc_mode2", 0)
HOOK(struct_ops, "struct_ops/ssthresh", 0)
