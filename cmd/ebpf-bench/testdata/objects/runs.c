// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// A program of each type that BPF_PROG_RUN runs, and some that it is hard on.

#include <linux/bpf.h>

#define SEC(name) __attribute__((section(name), used))

char _license[] SEC("license") = "GPL";

// What all of them do, for there to be something to measure.
static __attribute__((always_inline)) int work(unsigned long long seed)
{
	volatile unsigned long long sum = seed;

	for (int i = 0; i < 32; i++)
		sum = sum * 31 + i;
	return sum == 1;
}

SEC("xdp")
int run_xdp(struct xdp_md *ctx)
{
	return XDP_PASS + work(ctx->ingress_ifindex);
}

SEC("tc")
int run_sched_cls(struct __sk_buff *skb)
{
	return work(skb->mark);
}

SEC("action")
int run_sched_act(struct __sk_buff *skb)
{
	return work(skb->len);
}

SEC("socket")
int run_socket_filter(struct __sk_buff *skb)
{
	return work(skb->len);
}

SEC("cgroup_skb/ingress")
int run_cgroup_skb(struct __sk_buff *skb)
{
	return 1 & ~work(skb->len);
}

SEC("lwt_in")
int run_lwt_in(struct __sk_buff *skb)
{
	return work(skb->len);
}

SEC("lwt_out")
int run_lwt_out(struct __sk_buff *skb)
{
	return work(skb->len);
}

SEC("lwt_xmit")
int run_lwt_xmit(struct __sk_buff *skb)
{
	return work(skb->len);
}

SEC("lwt_seg6local")
int run_lwt_seg6local(struct __sk_buff *skb)
{
	return work(skb->len);
}

SEC("flow_dissector")
int run_flow_dissector(struct __sk_buff *skb)
{
	return work(skb->data_end - skb->data);
}

// Returns what it is not called with only for a packet to TCP port 443.
SEC("sk_lookup")
int run_sk_lookup(struct bpf_sk_lookup *ctx)
{
	if (ctx->protocol == 6 && ctx->local_port == 443)
		return SK_DROP;
	return SK_PASS & ~work(ctx->family);
}

SEC("netfilter")
int run_netfilter(void *ctx)
{
	return 1 & ~work(7);
}

SEC("raw_tp/sys_enter")
int run_raw_tracepoint(struct bpf_raw_tracepoint_args *ctx)
{
	return work(ctx->args[1]) + (int)ctx->args[0];
}

SEC("raw_tp.w/bpf_test_finish")
int run_raw_tracepoint_writable(struct bpf_raw_tracepoint_args *ctx)
{
	return work(1);
}

struct request {
	unsigned int a, b;
};

SEC("syscall")
int run_syscall(struct request *ctx)
{
	return ctx->a + ctx->b + work(ctx->a);
}

SEC("fentry/bpf_fentry_test1")
int run_fentry(unsigned long long *ctx)
{
	return work(ctx[0]) & 0;
}

SEC("fexit/bpf_fentry_test2")
int run_fexit(unsigned long long *ctx)
{
	return work(ctx[0]) & 0;
}

SEC("fmod_ret/bpf_modify_return_test")
int run_fmod_ret(unsigned long long *ctx)
{
	return work(ctx[0]) & 0;
}

SEC("tp_btf/sys_enter")
int run_tp_btf(unsigned long long *ctx)
{
	return work(1) & 0;
}

SEC("tcx/egress")
int run_tcx_egress(struct __sk_buff *skb)
{
	return work(skb->len);
}

SEC("tc")
int shoots(struct __sk_buff *skb)
{
	return 2 + work(skb->len); // TC_ACT_SHOT
}

// Leaves its packet with another byte each time.
SEC("tc")
int edits(struct __sk_buff *skb)
{
	unsigned char *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;

	if (data + 20 > end)
		return 2;
	data[19]++;
	return 0;
}

unsigned long long hits;

// All CPUs count in one place.
SEC("xdp")
int contended(struct xdp_md *ctx)
{
	__sync_fetch_and_add(&hits, 1);
	return XDP_DROP;
}
