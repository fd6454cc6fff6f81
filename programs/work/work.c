// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// A program whose cost is set by a constant: a chain of multiplications, in
// which each waits for the one before. So a step more takes the same time more
// on every CPU, whatever else it could do meanwhile.

#include "kernel.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

// The number of steps.
volatile const __u32 STEPS = 200;

SEC("xdp")
int work(struct xdp_md *ctx)
{
	__u32 steps = STEPS;
	__u64 x = ctx->data_end - ctx->data;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < steps; i++) {
		x *= 0x9e3779b1;
		// Without it the compiler would know a shorter way.
		asm volatile("" : "+r"(x));
	}
	return x ? XDP_DROP : XDP_PASS;
}
