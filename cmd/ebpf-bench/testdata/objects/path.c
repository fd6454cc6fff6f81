// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// Programs that know a path, as by __FILE__: stored has it among its constants, and written
// in its instructions.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define X10 "xxxxxxxxxx"
const volatile char path[] = "/constant" X10 X10 X10 X10 X10 X10 X10 X10 X10 X10;

SEC("xdp")
int stored(struct xdp_md *ctx)
{
	return path[1] == 'c' ? XDP_PASS : XDP_DROP;
}

SEC("xdp")
int written(struct xdp_md *ctx)
{
	char text[] = "in /instructions/of/the/program";

	bpf_trace_printk(text, sizeof(text));
	return XDP_PASS;
}
