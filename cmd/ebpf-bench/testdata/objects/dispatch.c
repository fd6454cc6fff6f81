// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// A dispatcher whose array of programs is left to an agent; BEFORE is what it was
// before a change.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 4);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} handlers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} handled SEC(".maps");

// Tail calls by the version of IP.
SEC("xdp")
int dispatch(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	unsigned char *data = (void *)(long)ctx->data;

	if ((void *)(data + 15) > end)
		return XDP_ABORTED;
	if (data[14] >> 4 == 4)
		bpf_tail_call(ctx, &handlers, 0);
	else
		bpf_tail_call(ctx, &handlers, 1);
	return XDP_PASS;
}

SEC("xdp")
int handle_ipv4(struct xdp_md *ctx)
{
	__u32 key = 0;
	__u64 *n = bpf_map_lookup_elem(&handled, &key);

	if (n)
		++*n;
#ifndef BEFORE
	if (n && *n == 1)
		return XDP_PASS;
#endif
	return XDP_DROP;
}

#ifndef BEFORE
// Has one more tail call to make.
SEC("xdp")
int handle_ipv6(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &handlers, 3);
	return XDP_TX;
}
#endif

// Has an index that there is not.
SEC("xdp")
int beyond(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &handlers, 7);
	return XDP_TX;
}

SEC("tc")
int other(struct __sk_buff *skb)
{
	return 0;
}

char _license[] SEC("license") = "GPL";
