// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// Programs that load only with changes: there is no license, and maps leave
// their sizes to an agent.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 5000);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, __u64);
} sizeless SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 4);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} outer SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 0xffffffff);
	__type(key, __u32);
	__uint(value_size, 4096);
} immense SEC(".maps");

SEC("xdp")
int fixed(struct xdp_md *ctx)
{
	__u64 bytes = 1;
	__u32 key = 0;
	void *inner;

	bpf_ringbuf_output(&ring, &bytes, sizeof(bytes), 0);
	bpf_map_update_elem(&sizeless, &key, &bytes, BPF_ANY);
	inner = bpf_map_lookup_elem(&outer, &key);
	return inner ? XDP_DROP : XDP_PASS;
}

SEC("xdp")
int too_much(struct xdp_md *ctx)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&immense, &key) ? XDP_DROP : XDP_PASS;
}

SEC("a_section_of_my_own")
int untyped(void *ctx)
{
	return 0;
}
