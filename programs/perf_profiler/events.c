// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// The kernel side of `ebpf-bench profile`: where the threads of the chosen
// processes spend their time, as samples with the stack of kernel and user.

#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

// Sample every process, and not just those of the map processes.
const volatile bool ALL = false;

// Sleeps of a thread that are shorter than this many nanoseconds are sampled,
// one in so many nanoseconds of them; longer ones have a record each.
const volatile __u64 INTERVAL = 10000000;

// Whether the tracepoints of requests have the queue as their first argument,
// as before Linux 5.11.
const volatile bool QUEUE_FIRST = false;

// The largest stack, of the kernel or of user space, in bytes.
#define STACK (PERF_MAX_STACK_DEPTH * sizeof(__u64))

#ifdef COPY
// With COPY, samples also have the registers of user space, as DWARF numbers them, and
// so many bytes of its stack, for whoever unwinds it. One page more is the room for
// the last part.
#define REGISTERS 17
#define PAGE 4096
// What is below the stack pointer belongs to the function, too.
#define RED_ZONE 128
#endif

enum kind {
	CPU,
	OFF_CPU,
	DISK,
	FAULT,
	KINDS,
};

struct sample {
	__u64 time;  // when it ended, of CLOCK_MONOTONIC
	__u64 ns;    // how long it took; 0 if that is unknown
	__u64 where; // DISK: the sector; FAULT: the address
	__u32 bytes; // DISK: how many
	__u32 kind;
	__u32 pid;
	__u32 tid;
	__u32 kernel_len; // in bytes, of the stack in the kernel, which comes first
	__u32 user_len;
	__u32 flags;
	__u32 device;
	char comm[16];
#ifdef COPY
	__u64 copied; // in bytes, of the registers and the memory that follow the stacks
	__u64 stack[2 * PERF_MAX_STACK_DEPTH + REGISTERS + (COPY + PAGE) / 8];
#else
	__u64 stack[2 * PERF_MAX_STACK_DEPTH];
#endif
};

// Flags of a sample.
enum {
	PREEMPTED = 1, // OFF_CPU: the thread could have run
	WRITE = 1,     // DISK: it was not a read
	FROM_FILE = 1, // FAULT: the page belongs to a file
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} samples SEC(".maps");

// How many samples left no record, by their kind.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KINDS);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

// The processes to sample. Those that they fork are added.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, __u8);
} processes SEC(".maps");

// A sample under way, of each kind and CPU: a sample of CPU time may interrupt
// one of another kind.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KINDS);
	__type(key, __u32);
	__type(value, struct sample);
} scratch SEC(".maps");

// A thread that sleeps, with the stack by which it went to sleep.
struct sleeper {
	__u64 since; // 0 while it runs
	__u64 carry; // the short sleeps that no sample stands for yet
	__u64 until; // a sample is due when they reach this
	struct sample sample;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct sleeper);
} sleepers SEC(".maps");

// What a sleeper starts as: the stack of a program is too small for one.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sleeper);
} awake SEC(".maps");

// A request to a disk that is under way.
struct request_key {
	__u64 sector;
	__u32 device;
	__u32 zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
#ifdef COPY // the kernel has not as many large values at hand as a queue takes requests
	__uint(max_entries, 512);
#else
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
#endif
	__type(key, struct request_key);
	__type(value, struct sample);
} requests SEC(".maps");

// The page fault that a thread is in.
struct fault {
	__u64 since;
	__u32 from_file;
	__u32 zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, struct fault);
} faults SEC(".maps");

#ifdef COPY
struct mm_struct {
	unsigned long start_stack;
} __attribute__((preserve_access_index));

struct thread_struct {
	unsigned long fsbase;
} __attribute__((preserve_access_index));

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, ip, sp;
} __attribute__((preserve_access_index));
#endif

struct task_struct {
	int pid;
	int tgid;
	unsigned int flags;
	unsigned int __state;
#ifdef COPY
	struct mm_struct *mm;
	struct thread_struct thread;
#endif
} __attribute__((preserve_access_index));

struct task_struct___before_5_14 {
	long state;
} __attribute__((preserve_access_index));

#define PF_EXITING 4
#define TASK_RUNNING 0
#define E2BIG 7

static __always_inline void count_lost(__u32 kind)
{
	__u64 *n = bpf_map_lookup_elem(&lost, &kind);

	if (n)
		++*n;
}

static __always_inline bool wanted(__u32 pid)
{
	return ALL || bpf_map_lookup_elem(&processes, &pid);
}

#ifdef COPY
// copy adds the registers of user space and its stack to a sample, and returns how many
// bytes these are. It leaves out pages that are not in memory.
static __always_inline __u32 copy(struct sample *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	__u64 sp = regs->sp, from = sp - RED_ZONE, top = from + COPY, start, thread;
	__u64 at = s->kernel_len + s->user_len, done = 0, copied = 0, len, n;
	__u64 *to;
	void *memory;

	// The verifier forgets what these are when the compiler keeps them elsewhere.
	barrier_var(at);
	if (at > 2 * STACK)
		return 0; // never
	to = (void *)s->stack + at;
	memory = to + REGISTERS;
	// A thread of the kernel has none, and one of 32 bits has others.
	if (!task->mm || sp <= (__u32)-1)
		return 0;
	to[0] = regs->ax;
	to[1] = regs->dx;
	to[2] = regs->cx;
	to[3] = regs->bx;
	to[4] = regs->si;
	to[5] = regs->di;
	to[6] = regs->bp;
	to[7] = sp;
	to[8] = regs->r8;
	to[9] = regs->r9;
	to[10] = regs->r10;
	to[11] = regs->r11;
	to[12] = regs->r12;
	to[13] = regs->r13;
	to[14] = regs->r14;
	to[15] = regs->r15;
	to[16] = regs->ip;
	// The stack of the first thread ends where the arguments begin; above that of others
	// libraries put what belongs to the thread.
	start = task->mm->start_stack;
	if (start > sp && start < top)
		top = start;
	thread = task->thread.fsbase;
	if (thread > sp && thread < top)
		top = thread;
	len = top - from;
	for (int i = 0; i <= COPY / PAGE; i++) {
		if (done >= len || done > COPY)
			break;
		n = PAGE - ((from + done) & (PAGE - 1));
		if (n > len - done)
			n = len - done;
		barrier_var(n);
		if (n > PAGE)
			break; // never
		if (!bpf_probe_read_user(memory + done, n, (void *)from + done))
			copied = done + n;
		done += n;
	}
	return REGISTERS * sizeof(*to) + copied;
}
#endif

// fill makes a sample of the thread that runs, with its stacks.
static __always_inline void fill(void *ctx, struct sample *s, __u32 kind)
{
	__u64 id = bpf_get_current_pid_tgid();
	long len;

	s->ns = 0;
	s->where = 0;
	s->bytes = 0;
	s->kind = kind;
	s->pid = id >> 32;
	s->tid = id;
	s->flags = 0;
	s->device = 0;
	bpf_get_current_comm(s->comm, sizeof(s->comm));

	len = bpf_get_stack(ctx, s->stack, STACK, 0);
	if (len < 0 || len > (long)STACK)
		len = 0; // it runs in user mode
	s->kernel_len = len;
	len = bpf_get_stack(ctx, (void *)s->stack + len, STACK, BPF_F_USER_STACK);
	s->user_len = len < 0 ? 0 : len; // a kernel thread has none
#ifdef COPY
	s->copied = copy(s);
#endif
}

// wakeup returns the flag of a record: the reader looks by itself from time to time, for
// waking it costs more than the sample, and is woken before the buffer is full.
static __always_inline __u64 wakeup(void)
{
	__u64 used = bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA);

	return used > bpf_ringbuf_query(&samples, BPF_RB_RING_SIZE) / 4 ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline void send(struct sample *s)
{
	__u64 size = sizeof(*s) - sizeof(s->stack) + s->kernel_len + s->user_len;

#ifdef COPY
	size += s->copied;
#endif
	if (size > sizeof(*s))
		return; // never
	if (bpf_ringbuf_output(&samples, s, size, wakeup()))
		count_lost(s->kind);
}

// take sends a sample of the thread that runs, unless it is not wanted.
static __always_inline void take(void *ctx, __u32 kind, __u64 ns, __u64 where, __u32 flags)
{
	struct sample *s;

	if (!wanted(bpf_get_current_pid_tgid() >> 32))
		return;
	s = bpf_map_lookup_elem(&scratch, &kind);
	if (!s)
		return;
	fill(ctx, s, kind);
	s->time = bpf_ktime_get_ns();
	s->ns = ns;
	s->where = where;
	s->flags = flags;
	send(s);
}

SEC("perf_event")
int on_cpu(void *ctx)
{
	take(ctx, CPU, 0, 0, 0);
	return 0;
}

// could_run reports whether a thread that stops running waits for nothing but a
// CPU.
static __always_inline bool could_run(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	if (bpf_core_field_exists(old->state))
		return old->state == TASK_RUNNING;
	return task->__state == TASK_RUNNING;
}

// fall_asleep keeps the stack of the thread that stops running.
static __always_inline void fall_asleep(void *ctx, struct task_struct *task, __u64 now)
{
	const __u32 zero = 0;
	struct sleeper *s, *start;
	__u32 tid = task->pid;

	// Nothing wakes a thread that ends.
	if (!tid || task->flags & PF_EXITING || !wanted(task->tgid))
		return;
	s = bpf_map_lookup_elem(&sleepers, &tid);
	if (!s) {
		start = bpf_map_lookup_elem(&awake, &zero);
		if (!start || bpf_map_update_elem(&sleepers, &tid, start, 0)) {
			count_lost(OFF_CPU);
			return;
		}
		s = bpf_map_lookup_elem(&sleepers, &tid);
		if (!s)
			return;
		s->until = INTERVAL;
	}
	fill(ctx, &s->sample, OFF_CPU);
	s->sample.flags = could_run(task) ? PREEMPTED : 0;
	s->since = now;
}

// wake_up sends a sample if the sleep of a thread was a long one, or the last
// of several short ones. It draws how many make a sample, so that sleeps that
// take turns are sampled alike.
static __always_inline void wake_up(__u32 tid, __u64 now)
{
	struct sleeper *s = bpf_map_lookup_elem(&sleepers, &tid);
	__u64 slept;

	if (!s || !s->since)
		return;
	slept = now - s->since;
	s->since = 0;
	if (slept < INTERVAL) {
		s->carry += slept;
		if (s->carry < s->until)
			return;
		slept = s->carry;
		s->carry = 0;
		s->until = (2 * INTERVAL * bpf_get_prandom_u32()) >> 32;
	}
	s->sample.time = now;
	s->sample.ns = slept;
	send(&s->sample);
}

SEC("tp_btf/sched_switch")
int off_cpu(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u64 now = bpf_ktime_get_ns();

	fall_asleep(ctx, prev, now);
	wake_up(next->pid, now);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int forked(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	__u32 pid = parent->tgid;
	const __u8 yes = 1;

	if (!bpf_map_lookup_elem(&processes, &pid))
		return 0;
	pid = child->tgid;
	bpf_map_update_elem(&processes, &pid, &yes, 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int exited(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 tid = task->pid;

	bpf_map_delete_elem(&sleepers, &tid);
	bpf_map_delete_elem(&faults, &tid);
	if (task->pid == task->tgid)
		bpf_map_delete_elem(&processes, &tid);
	return 0;
}

// The fields of a request to a disk. The disk itself was a field of it before
// Linux 5.17, and has been one of its queue since 5.15.
struct gendisk {
	int major;
	int first_minor;
} __attribute__((preserve_access_index));

struct request_queue {
	struct gendisk *disk;
} __attribute__((preserve_access_index));

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	__u64 __sector;
} __attribute__((preserve_access_index));

struct request___before_5_17 {
	struct gendisk *rq_disk;
} __attribute__((preserve_access_index));

#define REQ_OP_MASK 0xff
#define MINOR_BITS 20

static __always_inline struct request_key key_of(struct request *rq)
{
	struct request___before_5_17 *old = (void *)rq;
	struct request_key key = {.sector = rq->__sector};
	struct gendisk *disk;

	if (bpf_core_field_exists(old->rq_disk))
		disk = old->rq_disk;
	else
		disk = rq->q->disk;
	if (disk)
		key.device = disk->major << MINOR_BITS | disk->first_minor;
	return key;
}

// request_starts keeps the stack of the thread that makes a request. A request
// that waits in a queue is issued later, often by another thread.
static __always_inline void request_starts(__u64 *ctx)
{
	struct request *rq = (void *)(QUEUE_FIRST ? ctx[1] : ctx[0]);
	const __u32 kind = DISK;
	struct request_key key;
	struct sample *s;

	if (!wanted(bpf_get_current_pid_tgid() >> 32))
		return;
	s = bpf_map_lookup_elem(&scratch, &kind);
	if (!s)
		return;
	key = key_of(rq);
	fill(ctx, s, DISK);
	s->time = bpf_ktime_get_ns();
	s->where = key.sector;
	s->device = key.device;
	s->bytes = rq->__data_len;
	s->flags = rq->cmd_flags & REQ_OP_MASK ? WRITE : 0;
	// The first of insert and issue stays.
	if (bpf_map_update_elem(&requests, &key, s, BPF_NOEXIST) == -E2BIG)
		count_lost(DISK);
}

SEC("tp_btf/block_rq_insert")
int disk_insert(__u64 *ctx)
{
	request_starts(ctx);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int disk_issue(__u64 *ctx)
{
	request_starts(ctx);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int disk_complete(__u64 *ctx)
{
	struct request_key key = key_of((void *)ctx[0]);
	struct sample *s = bpf_map_lookup_elem(&requests, &key);
	__u64 now = bpf_ktime_get_ns();

	if (!s)
		return 0;
	s->ns = now - s->time;
	s->time = now;
	send(s);
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

SEC("fentry/handle_mm_fault")
int fault_starts(__u64 *ctx)
{
	struct fault f = {.since = bpf_ktime_get_ns()};
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tid = id;

	if (wanted(id >> 32) && bpf_map_update_elem(&faults, &tid, &f, 0))
		count_lost(FAULT);
	return 0;
}

SEC("fentry/filemap_fault")
int fault_from_file(__u64 *ctx)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct fault *f = bpf_map_lookup_elem(&faults, &tid);

	if (f)
		f->from_file = FROM_FILE;
	return 0;
}

SEC("fexit/handle_mm_fault")
int fault_ends(__u64 *ctx)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct fault *f = bpf_map_lookup_elem(&faults, &tid);

	if (!f)
		return 0;
	take(ctx, FAULT, bpf_ktime_get_ns() - f->since, ctx[1], f->from_file);
	bpf_map_delete_elem(&faults, &tid);
	return 0;
}

SEC("tp_btf/page_fault_user")
int fault(__u64 *ctx)
{
	take(ctx, FAULT, 0, ctx[0], 0);
	return 0;
}

SEC("perf_event")
int fault_event(void *ctx)
{
	take(ctx, FAULT, 0, 0, 0);
	return 0;
}
