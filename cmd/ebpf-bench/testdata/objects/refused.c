// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// Programs that cannot be measured, each for one reason.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} pinned SEC(".maps");

// The verifier refuses a read that no comparison with data_end goes before.
SEC("xdp")
int unbounded(struct xdp_md *ctx)
{
	unsigned char *data = (void *)(long)ctx->data;

	return data[14] == 0x45 ? XDP_PASS : XDP_DROP;
}

// Nothing raises what a perf event is told to count.
SEC("perf_event")
int never(void *ctx)
{
	return 0;
}

// The map asks to outlive the program.
SEC("xdp")
int pins(struct xdp_md *ctx)
{
	__u32 key = 0;
	__u64 *runs = bpf_map_lookup_elem(&pinned, &key);

	if (runs)
		++*runs;
	return XDP_PASS;
}
