// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// Those of explained.c, with a loop that was made longer, in a file of another name.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

int again(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 4);
	__uint(key_size, sizeof(__u32));
	__array(values, int(void *));
} jumps SEC(".maps") = { .values = { [0] = (void *)&again } };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps");

// Tail calls itself until it may no more: 34 times in one run.
SEC("xdp")
int again(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &jumps, 0);
	return XDP_PASS;
}

// Tail calls what is not there.
SEC("xdp")
int nowhere(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &jumps, 2);
	return XDP_PASS;
}

static __attribute__((noinline)) int weigh(__u32 n)
{
	volatile int sum = 0;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < (n & 15); i++)
		sum += i;
	return sum;
}

// Does more in one half of its runs than in the other.
SEC("xdp")
int chance(struct xdp_md *ctx)
{
	if (bpf_get_prandom_u32() & 1)
		return weigh(15) == 1 ? XDP_DROP : XDP_PASS;
	return XDP_PASS;
}

// Puts an element into a map in its first run.
SEC("xdp")
int first(struct xdp_md *ctx)
{
	__u32 key = ctx->rx_queue_index;
	__u64 one = 1, *times;

	times = bpf_map_lookup_elem(&seen, &key);
	if (times) {
		++*times;
		return XDP_PASS;
	}
	bpf_map_update_elem(&seen, &key, &one, BPF_ANY);
	return XDP_PASS;
}

// Always does the same.
SEC("xdp")
int steady(struct xdp_md *ctx)
{
	return weigh(15) == 1 ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
