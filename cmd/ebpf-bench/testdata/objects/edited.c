// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// A program before and after a change that only TCP segments reach.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("xdp")
int before(struct xdp_md *ctx)
{
	unsigned char *data = (void *)(long)ctx->data;

	if (data + 48 > (unsigned char *)(long)ctx->data_end)
		return XDP_ABORTED;
	if (data[23] == 6)
		return XDP_DROP;
	return XDP_PASS;
}

SEC("xdp")
int after(struct xdp_md *ctx)
{
	unsigned char *data = (void *)(long)ctx->data;

	if (data + 48 > (unsigned char *)(long)ctx->data_end)
		return XDP_ABORTED;
	if (data[23] == 6) {
		if (data[47] & 2)
			return XDP_TX;
		return XDP_DROP;
	}
	return XDP_PASS;
}
