// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Programs that a virtual machine has trouble with.

#include <linux/bpf.h>

#define SEC(name) __attribute__((section(name), used))

char _license[] SEC("license") = "Dual BSD/GPL";

// More than the 256 MiB that a virtual machine has.
struct {
	int (*type)[BPF_MAP_TYPE_HASH];
	unsigned int *key;
	unsigned long long *value;
	int (*max_entries)[20000000];
} huge SEC(".maps");

static void *(*lookup)(void *map, const void *key) = (void *)BPF_FUNC_map_lookup_elem;
static long (*loop)(unsigned int n, void *callback, void *ctx, unsigned long long flags) = (void *)181;
static unsigned int (*prandom)(void) = (void *)BPF_FUNC_get_prandom_u32;

SEC("xdp")
int fine(struct xdp_md *ctx)
{
	return XDP_DROP;
}

SEC("xdp")
int uses_huge(struct xdp_md *ctx)
{
	unsigned int key = 1;

	return lookup(&huge, &key) ? XDP_DROP : XDP_PASS;
}

static int inner(unsigned int i, void *ctx)
{
	return 0;
}

static int outer(unsigned int i, void *ctx)
{
	loop(1 << 23, inner, 0, 0);
	return 0;
}

// A run takes a tenth of a millisecond or so.
SEC("xdp")
int slow(struct xdp_md *ctx)
{
	loop(1 << 16, inner, 0, 0);
	return XDP_DROP;
}

// What a run takes is up to chance.
SEC("xdp")
int chance(struct xdp_md *ctx)
{
	loop(prandom() & 1023, inner, 0, 0);
	return XDP_DROP;
}

// A run takes centuries.
SEC("xdp")
int locks_up(struct xdp_md *ctx)
{
	loop(1 << 23, outer, 0, 0);
	return XDP_DROP;
}

SEC("perf_event")
int sample(void *ctx)
{
	return 0;
}
