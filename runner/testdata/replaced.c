// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// Programs with functions that others replace, and some that replace them.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

// What takes no argument is called without one.
#define TAKES(argument) asm volatile("" : : "r"(argument))

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps");

// Nothing is in it unless a suite fills it.
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} next SEC(".maps");

__noinline int rate(struct xdp_md *ctx)
{
	volatile int verdict = XDP_PASS;

	TAKES(ctx);
	return verdict;
}

static __noinline int hidden(struct xdp_md *ctx)
{
	volatile int verdict = XDP_PASS;

	TAKES(ctx);
	return verdict;
}

__noinline int weigh(struct __sk_buff *skb)
{
	volatile int verdict = 0;

	TAKES(skb);
	return verdict;
}

const volatile int otherwise = XDP_ABORTED;

// Counts in a map what the function lets pass.
SEC("xdp")
int filter(struct xdp_md *ctx)
{
	__u32 key = 0;
	__u64 *n = bpf_map_lookup_elem(&seen, &key);

	if (!n || hidden(ctx) != XDP_PASS)
		return otherwise;
	int verdict = rate(ctx);
	if (verdict == XDP_PASS)
		__sync_fetch_and_add(n, 1);
	return verdict;
}

SEC("tc")
int shape(struct __sk_buff *skb)
{
	return weigh(skb);
}

// Leaves to another program what the function drops.
SEC("xdp")
int hand_on(struct xdp_md *ctx)
{
	int verdict = rate(ctx);

	if (verdict == XDP_DROP)
		bpf_tail_call(ctx, &next, ctx->rx_queue_index);
	return verdict;
}

SEC("xdp")
int send_back(struct xdp_md *ctx)
{
	return XDP_TX;
}

// Drops what it has not seen in the map that the program counts in.
SEC("freplace/rate")
int rate_dropping(struct xdp_md *ctx)
{
	__u32 key = 0;
	__u64 *n = bpf_map_lookup_elem(&seen, &key);

	return n && *n ? XDP_PASS : XDP_DROP;
}

// Takes many times as long.
SEC("freplace/rate")
int rate_slow(struct xdp_md *ctx)
{
	volatile __u64 x = 1;

	for (int i = 0; i < 100; i++)
		x *= 3;
	return x ? XDP_DROP : XDP_PASS;
}

SEC("freplace")
int weigh_anew(struct __sk_buff *skb)
{
	return 2;
}
