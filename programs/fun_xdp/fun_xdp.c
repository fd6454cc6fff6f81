// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// Five XDP programs that look at the source address of IPv4 packets. They
// share the parser and differ in what they do with the address, so that what
// each step costs can be measured. One is slow on purpose.

#include <stdbool.h>

#include "kernel.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

// How often each source address was seen. An LRU map evicts the addresses not
// seen for longest, so that new ones always fit.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __be32);
	__type(value, __u64);
} sources SEC(".maps");

// What a program says of an address. One packet makes one event at most, so
// that a run pushes at most once: a Fibonacci number is not a Fizz or Buzz as well.
enum event {
	NOTHING,
	FIZZ,
	BUZZ,
	FIZZBUZZ,
	FIBONACCI,
};

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1024);
	__type(value, enum event);
} events SEC(".maps");

// How many events did not fit into the queue.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} dropped SEC(".maps");

// parse points ip at the packet's IPv4 header, or at nothing when it has none,
// and returns the verdict.
static __always_inline int parse(struct xdp_md *ctx, struct iphdr **ip)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct iphdr *header = (void *)(eth + 1);

	*ip = NULL;
	if ((void *)(eth + 1) > data_end)
		return XDP_ABORTED;
	if (eth->h_proto != bpf_htons(ETH_P_IP))
		return XDP_PASS;
	if ((void *)(header + 1) > data_end)
		return XDP_ABORTED;

	*ip = header;
	return XDP_PASS;
}

static __always_inline void count(__be32 saddr)
{
	const __u64 first = 1;
	__u64 *packets;

	packets = bpf_map_lookup_elem(&sources, &saddr);
	// Another CPU may have added the address since the lookup: then its count
	// is there now, and must not be overwritten.
	if (!packets && bpf_map_update_elem(&sources, &saddr, &first, BPF_NOEXIST))
		packets = bpf_map_lookup_elem(&sources, &saddr);
	if (packets)
		__sync_fetch_and_add(packets, 1);
}

static __always_inline void push(enum event event)
{
	const __u32 key = 0;
	__u64 *drops;

	if (event == NOTHING || bpf_map_push_elem(&events, &event, BPF_ANY) == 0)
		return;

	drops = bpf_map_lookup_elem(&dropped, &key);
	if (drops)
		++*drops;
}

static __always_inline enum event fizz(__u32 n)
{
	return n % 3 == 0 ? FIZZ : NOTHING;
}

static __always_inline enum event fizzbuzz(__u32 n)
{
	if (n % 15 == 0)
		return FIZZBUZZ;
	if (n % 3 == 0)
		return FIZZ;
	if (n % 5 == 0)
		return BUZZ;
	return NOTHING;
}

static __always_inline __u32 nth_fibonacci(__u32 n)
{
	__u32 a = 0, b = 1;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < n; i++) {
		__u32 next = a + b;

		a = b;
		b = next;
	}
	return a;
}

// The regression: every number of the sequence is computed from the first one
// on, so the work grows with the square of how many there are up to n.
static __always_inline bool is_fibonacci_slow(__u8 n)
{
	__u32 fibonacci, i = 0;

#pragma clang loop unroll(disable)
	do {
		fibonacci = nth_fibonacci(i++);
	} while (fibonacci < n);
	return fibonacci == n;
}

// The fix: an octet has 256 values, and 13 are Fibonacci numbers.
static const bool is_fibonacci[256] = {
	[0] = true, [1] = true, [2] = true, [3] = true, [5] = true,
	[8] = true, [13] = true, [21] = true, [34] = true, [55] = true,
	[89] = true, [144] = true, [233] = true,
};

SEC("xdp")
int fun_xdp_basic(struct xdp_md *ctx)
{
	struct iphdr *ip;
	int verdict = parse(ctx, &ip);

	if (ip)
		count(ip->saddr);
	return verdict;
}

SEC("xdp")
int fun_xdp_fizz(struct xdp_md *ctx)
{
	struct iphdr *ip;
	int verdict = parse(ctx, &ip);

	if (ip)
		push(fizz(bpf_ntohl(ip->saddr)));
	return verdict;
}

SEC("xdp")
int fun_xdp_fizzbuzz(struct xdp_md *ctx)
{
	struct iphdr *ip;
	int verdict = parse(ctx, &ip);

	if (ip)
		push(fizzbuzz(bpf_ntohl(ip->saddr)));
	return verdict;
}

SEC("xdp")
int fun_xdp_fibonacci_slow(struct xdp_md *ctx)
{
	struct iphdr *ip;
	int verdict = parse(ctx, &ip);

	if (ip) {
		__u32 saddr = bpf_ntohl(ip->saddr);

		push(is_fibonacci_slow(saddr) ? FIBONACCI : fizzbuzz(saddr));
	}
	return verdict;
}

SEC("xdp")
int fun_xdp_fibonacci(struct xdp_md *ctx)
{
	struct iphdr *ip;
	int verdict = parse(ctx, &ip);

	if (ip) {
		__u32 saddr = bpf_ntohl(ip->saddr);

		push(is_fibonacci[saddr & 0xff] ? FIBONACCI : fizzbuzz(saddr));
	}
	return verdict;
}
