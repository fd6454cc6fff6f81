// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// A program that replaces a function of one in another object, with maps of the
// same names as that has.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u64);
	__type(value, __u32);
} seen SEC(".maps");

const volatile int verdict = XDP_TX;
// Another one than that of the same name in the other object.
const volatile int otherwise = 0;

SEC("freplace/rate")
int rate_plugged(struct xdp_md *ctx)
{
	__u64 key = ctx->data_end - ctx->data;
	__u32 one = 1;

	bpf_map_update_elem(&seen, &key, &one, BPF_ANY);
	return verdict + otherwise;
}

// Its argument is not what the function has.
SEC("freplace/rate")
int rate_mistyped(struct __sk_buff *skb)
{
	return 0;
}
