// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// Programs that libbpf loads and other loaders do not: weak maps, functions that
// are hidden, questions to the kernel, its typed variables. And static maps, which libbpf takes no more.

#define __TARGET_ARCH_x86
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/usdt.bpf.h>

extern int LINUX_KERNEL_VERSION __kconfig;
extern bool LINUX_HAS_SYSCALL_WRAPPER __kconfig;
extern bool LINUX_HAS_NOTHING __kconfig __weak;
extern int CONFIG_HZ __kconfig;
extern bool CONFIG_BPF_SYSCALL __kconfig __weak;
extern enum libbpf_tristate CONFIG_NET __kconfig;
extern char CONFIG_CC_VERSION_TEXT[32] __kconfig;
extern int CONFIG_NO_SUCH_THING __kconfig __weak;
extern bool CONFIG_NO_SUCH_THING_EITHER __kconfig;

SEC("xdp")
int asks(struct xdp_md *ctx)
{
	if (LINUX_KERNEL_VERSION < (5 << 16) || !LINUX_HAS_SYSCALL_WRAPPER || LINUX_HAS_NOTHING)
		return XDP_DROP;
	if (CONFIG_HZ < 100 || CONFIG_HZ > 1000 || !CONFIG_BPF_SYSCALL || CONFIG_NET != TRI_YES)
		return XDP_DROP;
	if (!CONFIG_CC_VERSION_TEXT[0] || CONFIG_CC_VERSION_TEXT[31] || CONFIG_NO_SUCH_THING)
		return XDP_DROP;
	return XDP_PASS;
}

SEC("xdp")
int asks_too_much(struct xdp_md *ctx)
{
	return CONFIG_NO_SUCH_THING_EITHER ? XDP_DROP : XDP_PASS;
}

struct rq {
	unsigned int nr_running;
} __attribute__((preserve_access_index));

extern const struct rq runqueues __ksym;
extern const int no_such_variable __ksym __weak;
extern const int no_such_variable_either __ksym;
extern const void no_such_symbol __ksym __weak;

// It reads a variable of the kernel's CPU, which the verifier has to know.
SEC("xdp")
int typed(struct xdp_md *ctx)
{
	const struct rq *rq = bpf_per_cpu_ptr(&runqueues, 0);

	return rq && rq->nr_running < 1 << 20 ? XDP_PASS : XDP_DROP;
}

SEC("xdp")
int typed_perhaps(struct xdp_md *ctx)
{
	return &no_such_variable || &no_such_symbol ? XDP_DROP : XDP_PASS;
}

SEC("xdp")
int typed_missing(struct xdp_md *ctx)
{
	return bpf_per_cpu_ptr(&no_such_variable_either, 0) ? XDP_DROP : XDP_PASS;
}

struct pair {
	__u64 a, b;
};

// The verifier refuses what it writes to, where it takes it by itself.
__weak __hidden int swap(struct pair *p, void *to)
{
	*(__u64 *)to = p->a;
	return p->b;
}

SEC("xdp")
int hidden(struct xdp_md *ctx)
{
	struct pair p = {.a = bpf_get_prandom_u32() | 1, .b = XDP_PASS};
	__u64 a = 0;
	int b = swap(&p, &a);

	return a ? b : XDP_DROP;
}

struct bpf_map_def {
	unsigned int type, key_size, value_size, max_entries, map_flags;
};

struct bpf_map_def first SEC("maps") = {BPF_MAP_TYPE_HASH, 4, 8, 16, 0};
static struct bpf_map_def second SEC("maps") = {BPF_MAP_TYPE_ARRAY, 4, 8, 16, 0};
static struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u64);
} third SEC(".maps");

// An element of the first one, which is not an array, is missing.
SEC("xdp")
int static_maps(struct xdp_md *ctx)
{
	__u32 key = 0;

	if (bpf_map_lookup_elem(&first, &key) || !bpf_map_lookup_elem(&second, &key) || !bpf_map_lookup_elem(&third, &key))
		return XDP_DROP;
	return XDP_PASS;
}

long sum;

SEC("usdt/./target:demo:step")
int BPF_USDT(probe, long n, int negative, long memory)
{
	sum += n + negative + memory;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
