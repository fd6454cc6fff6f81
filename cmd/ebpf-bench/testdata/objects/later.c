// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Programs whose runs leave something for later: callbacks of timers, and messages
// that user space should have sent.

#include <linux/bpf.h>

#define SEC(name) __attribute__((section(name), used))

char _license[] SEC("license") = "GPL";

static void *(*lookup)(void *map, const void *key) = (void *)BPF_FUNC_map_lookup_elem;
static long (*timer_init)(void *timer, void *map, unsigned long long flags) = (void *)BPF_FUNC_timer_init;
static long (*timer_set_callback)(void *timer, void *callback) = (void *)BPF_FUNC_timer_set_callback;
static long (*timer_start)(void *timer, unsigned long long ns, unsigned long long flags) = (void *)BPF_FUNC_timer_start;
static long (*drain)(void *map, void *callback, void *ctx, unsigned long long flags) = (void *)209; // Linux 6.1

struct entry {
	struct bpf_timer timer;
	unsigned long long calls;
};

struct {
	int (*type)[BPF_MAP_TYPE_ARRAY];
	int (*max_entries)[1];
	int *key;
	struct entry *value;
} entries SEC(".maps");

struct {
	int (*type)[31]; // user_ringbuf
	int (*max_entries)[4096];
} messages SEC(".maps");

// How often a callback and a run go round.
volatile const unsigned int later = 10, now = 10;

static __attribute__((always_inline)) int work(unsigned int turns)
{
	volatile int sum = 0;

	for (unsigned int i = 0; i < turns && i < 1000; i++)
		sum += i;
	return sum;
}

static __attribute__((noinline)) int both(unsigned int turns)
{
	return work(turns);
}

static int tick(void *map, int *key, struct entry *e)
{
	e->calls += work(later) > 0;
	return 0;
}

static int tock(void *map, int *key, struct entry *e)
{
	e->calls += both(later) > 0;
	return 0;
}

static __attribute__((always_inline)) int start(unsigned long long ns, int when, void *callback)
{
	int key = 0;
	struct entry *e = lookup(&entries, &key);

	if (work(now) >= 0 && e && when) {
		timer_init(&e->timer, &entries, 1); // CLOCK_MONOTONIC
		timer_set_callback(&e->timer, callback);
		timer_start(&e->timer, ns, 0);
	}
	return XDP_PASS;
}

#define STARTS(name, ns, when)                                                 \
	SEC("xdp") int name(struct xdp_md *ctx)                                \
	{                                                                      \
		return start(ns, when, tick);                                  \
	}

STARTS(at_once, 0, 1)
STARTS(in_a_millisecond, 1000000, 1)
STARTS(in_a_second, 1000000000ULL, 1)
STARTS(in_an_hour, 3600000000000ULL, 1)
STARTS(if_asked, 0, ctx->ingress_ifindex == 12345)

SEC("xdp")
int shares(struct xdp_md *ctx)
{
	return both(now) < 0 ? XDP_DROP : start(0, 1, tock);
}

static long message(void *data, void *ctx)
{
	return 0;
}

SEC("xdp")
int drains(struct xdp_md *ctx)
{
	drain(&messages, message, 0, 0);
	return XDP_PASS;
}
