// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// Two programs that differ by one instruction: the smallest regression there
// is, in a program of some thousand instructions.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline int checksum(struct xdp_md *ctx)
{
	unsigned char *data = (void *)(long)ctx->data;
	unsigned int sum = 0;

	if (data + 48 > (unsigned char *)(long)ctx->data_end)
		return 0;
#pragma clang loop unroll(disable)
	for (int j = 0; j < 8; j++)
#pragma clang loop unroll(disable)
		for (int i = 0; i < 48; i++)
			sum = sum * 31 + data[i];
	return sum;
}

SEC("xdp")
int base(struct xdp_md *ctx)
{
	int sum = checksum(ctx);

	asm volatile("%0 ^= 1" : "+r"(sum));
	return sum ? XDP_PASS : XDP_DROP;
}

SEC("xdp")
int one_more(struct xdp_md *ctx)
{
	int sum = checksum(ctx);

	asm volatile("%0 ^= 1; %0 ^= 1" : "+r"(sum));
	return sum ? XDP_PASS : XDP_DROP;
}
