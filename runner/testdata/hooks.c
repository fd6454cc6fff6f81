// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// A program for each kind of hook, which counts its runs.

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/usdt.bpf.h>

typedef unsigned long long u64;

u64 runs;

#define PROGRAM(section, name)                                                 \
	SEC(section) int name(u64 *ctx)                                        \
	{                                                                      \
		__sync_fetch_and_add(&runs, 1);                                \
		return 0;                                                      \
	}

PROGRAM("tracepoint/syscalls/sys_enter_getppid", tracepoint)
PROGRAM("tp/sched/sched_switch", tracepoint_switch)
PROGRAM("tp/raw_syscalls/sys_enter", tracepoint_raw_syscalls)
PROGRAM("tp/exceptions/page_fault_user", tracepoint_fault)
PROGRAM("tp/sched/sched_process_exec", tracepoint_exec)
PROGRAM("tp/signal/signal_deliver", tracepoint_signal)
PROGRAM("tp/sock/inet_sock_set_state", tracepoint_sock)
PROGRAM("raw_tp/sched_wakeup", raw_tp)
PROGRAM("raw_tracepoint.w/sys_enter", raw_tp_w)
PROGRAM("tp_btf/sched_switch", tp_btf)
PROGRAM("tp_btf/sys_enter", tp_btf_syscall)
PROGRAM("kprobe/vfs_read", kprobe_read)
PROGRAM("kprobe/vfs_read+0x0", kprobe_offset)
PROGRAM("kretprobe/vfs_write", kretprobe)
PROGRAM("kprobe/__x64_sys_openat", kprobe_syscall)
PROGRAM("kprobe/handle_mm_fault", kprobe_fault)
PROGRAM("kprobe/tcp_v4_connect", kprobe_connect)
PROGRAM("kprobe/do_unlinkat", kprobe_unlink)
PROGRAM("kprobe.multi/vfs_rea*", kprobe_multi)
PROGRAM("kretprobe.multi/vfs_read", kretprobe_multi)
PROGRAM("kprobe.session/vfs_read", kprobe_session)
PROGRAM("ksyscall/getpid", ksyscall)
PROGRAM("kretsyscall/getpid", kretsyscall)
PROGRAM("fentry/vfs_read", fentry)
PROGRAM("fexit/vfs_read", fexit)
PROGRAM("fmod_ret/security_file_permission", fmod_ret)
PROGRAM("lsm/file_open", lsm)
PROGRAM("lsm.s/bpf", lsm_sleepable)
PROGRAM("iter/task", iter_task)
PROGRAM("iter/bpf_map_elem", iter_map)
PROGRAM("uprobe", user)
PROGRAM("uretprobe", user_return)
PROGRAM("uprobe.multi", user_multi)
PROGRAM("kprobe", no_target)
PROGRAM("tp/nowhere/nothing", tracepoint_nowhere)
PROGRAM("kprobe/reboot_pid_ns", kprobe_never)
PROGRAM("lsm_cgroup/socket_create", lsm_cgroup)

// What was read of the latest run's arguments of a static probe.
long arguments[4];
u64 count;

SEC("usdt")
int usdt_arguments(struct pt_regs *ctx)
{
	__sync_fetch_and_add(&runs, 1);
	count = bpf_usdt_arg_cnt(ctx);
	for (int i = 0; i < 4; i++)
		if (bpf_usdt_arg(ctx, i, &arguments[i]))
			return 0;
	return 0;
}

// How often each thread runs, and what one costs that is not the first of its.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, u64);
} threads SEC(".maps");

static int by_thread(void)
{
	u64 thread = bpf_get_current_pid_tgid(), one = 1;
	u64 *n = bpf_map_lookup_elem(&threads, &thread);

	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&threads, &thread, &one, BPF_ANY);
	return 0;
}

SEC("raw_tp/sched_switch")
int switches_by_thread(void *ctx)
{
	return by_thread();
}

SEC("raw_tp/sys_enter")
int syscalls_by_thread(void *ctx)
{
	return by_thread();
}

SEC("fentry/handle_mm_fault")
int faults_by_thread(void *ctx)
{
	return by_thread();
}

// One calls the other, which is on no hook of its own.
SEC("kprobe/1")
int tail(void *ctx)
{
	__sync_fetch_and_add(&runs, 1);
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__array(values, int(void *));
} calls SEC(".maps") = { .values = { [0] = (void *)&tail } };

SEC("kprobe/vfs_read")
int caller(void *ctx)
{
	bpf_tail_call(ctx, &calls, 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
