// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Programs whose cost depends on what maps hold.

#include <linux/bpf.h>

#define SEC(name) __attribute__((section(name), used))

char _license[] SEC("license") = "Dual BSD/GPL";

struct {
	int (*type)[BPF_MAP_TYPE_HASH];
	unsigned int *key;
	unsigned long long *value;
	int (*max_entries)[4096];
} flows SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_PERCPU_ARRAY];
	unsigned int *key;
	unsigned long long *value;
	int (*max_entries)[2];
} counts SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_RINGBUF];
	int (*max_entries)[65536];
} events SEC(".maps");

static void *(*lookup)(void *map, const void *key) = (void *)BPF_FUNC_map_lookup_elem;
static long (*update)(void *map, const void *key, const void *value, unsigned long long flags) = (void *)BPF_FUNC_map_update_elem;
static long (*output)(void *ring, const void *data, unsigned long long size, unsigned long long flags) = (void *)BPF_FUNC_ringbuf_output;

unsigned int next;

// Returns XDP_DROP if the map has the key 7 with the value 9, else XDP_PASS.
SEC("xdp")
int has(struct xdp_md *ctx)
{
	unsigned int key = 7;
	unsigned long long *value = lookup(&flows, &key);

	return value && *value == 9 ? XDP_DROP : XDP_PASS;
}

// Makes an entry each run, until there are eight: XDP_DROP from then on.
SEC("xdp")
int grow(struct xdp_md *ctx)
{
	unsigned int key = next;
	unsigned int zero = 0;
	unsigned long long value = key;
	unsigned long long *count = lookup(&counts, &zero);

	if (!count || ++*count > 8)
		return XDP_DROP;
	next++;
	update(&flows, &key, &value, 0);
	return XDP_PASS;
}

// Makes an entry each run until there is no room: XDP_DROP from then on.
SEC("xdp")
int fill(struct xdp_md *ctx)
{
	unsigned int key = next;
	unsigned long long value = key;

	if (update(&flows, &key, &value, 0))
		return XDP_DROP;
	next = key + 1;
	return XDP_PASS;
}

// Writes a record each run, XDP_DROP if there is no room for it.
SEC("xdp")
int emit(struct xdp_md *ctx)
{
	unsigned long long record = 1;

	if (output(&events, &record, sizeof(record), 0))
		return XDP_DROP;
	return XDP_PASS;
}
