// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Programs whose verdict stops what drives or measures them.

#include <linux/bpf.h>

#define SEC(name) __attribute__((section(name), used))

char _license[] SEC("license") = "Dual BSD/GPL";

#define REFUSES(hook)                                                          \
	SEC("lsm/" #hook) int no_##hook(void *ctx)                             \
	{                                                                      \
		return -1;                                                     \
	}

REFUSES(bpf)
REFUSES(bprm_check_security)
REFUSES(file_open)
REFUSES(file_permission)
REFUSES(socket_create)
REFUSES(task_alloc)

SEC("xdp")
int fine(struct xdp_md *ctx)
{
	return XDP_DROP;
}
