// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// What the program uses of the kernel's user-space API. It stands here because
// <linux/bpf.h> cannot be included without the headers of one architecture and
// differs from release to release: the object has to come out the same on
// every machine.

#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

typedef _Bool bool;
#define false 0

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_NOEXIST = 1,
};

enum {
	BPF_F_NO_PREALLOC = 1 << 0,
};

enum {
	BPF_F_USER_STACK = 1 << 8,
};

enum {
	BPF_RB_NO_WAKEUP = 1 << 0,
	BPF_RB_FORCE_WAKEUP = 1 << 1,
};

enum {
	BPF_RB_AVAIL_DATA = 0,
	BPF_RB_RING_SIZE = 1,
};

#define PERF_MAX_STACK_DEPTH 127
