// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// The kernel side of a sampling profiler: each time its perf event fires, it
// sends the user stack that was interrupted to user space.

#include "kernel.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

// The process to sample, as the initial PID namespace numbers it; 0 is all.
const volatile __u32 PID = 0;

struct record {
	__u64 ktime;
	__u32 pid;
	__u32 tid;
	__u64 stack_len; // in bytes; what follows them in stack is left over
	__u64 stack[PERF_MAX_STACK_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} events SEC(".maps");

// How many samples left no record.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} dropped SEC(".maps");

static __always_inline void count_drop(void)
{
	const __u32 key = 0;
	__u64 *drops;

	drops = bpf_map_lookup_elem(&dropped, &key);
	if (drops)
		++*drops;
}

SEC("perf_event")
int profile(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 pid = id >> 32;
	struct record *record;
	long len;

	if (PID && pid != PID)
		return 0;

	// First, because walking the stack is what costs, and with a full ring
	// it would be for nothing.
	record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
	if (!record) {
		count_drop();
		return 0;
	}

	len = bpf_get_stack(ctx, record->stack, sizeof(record->stack), BPF_F_USER_STACK);
	if (len < 0) {
		bpf_ringbuf_discard(record, 0);
		count_drop();
		return 0;
	}

	record->ktime = bpf_ktime_get_ns();
	record->pid = pid;
	record->tid = id;
	record->stack_len = len;
	bpf_ringbuf_submit(record, 0);
	return 0;
}
