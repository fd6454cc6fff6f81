// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// Programs whose cost is set by a constant, one for each driver: a chain of
// multiplications, in which each waits for the one before. So a step more takes
// the same time more on every CPU, whatever else it could do meanwhile.

#include "kernel.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

// The number of steps.
volatile const __u32 STEPS = 200;

static __always_inline __u64 work(__u64 x)
{
	__u32 steps = STEPS;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < steps; i++) {
		x *= 0x9e3779b1;
		// Without it the compiler would know a shorter way.
		asm volatile("" : "+r"(x));
	}
	return x;
}

SEC("xdp")
int work_xdp(struct xdp_md *ctx)
{
	return work(ctx->data_end - ctx->data) ? XDP_DROP : XDP_PASS;
}

SEC("raw_tp/sys_enter")
int work_raw_tp(void *ctx)
{
	work(1);
	return 0;
}

SEC("perf_event")
int work_perf_event(void *ctx)
{
	work(1);
	return 0;
}

SEC("cgroup/connect4")
int work_cgroup(void *ctx)
{
	work(1);
	return 1;
}

SEC("sk_msg")
int work_socket(void *ctx)
{
	work(1);
	return 1;
}
