// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// What the programs use of the kernel's user-space API. It stands here because
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

enum {
	XDP_PASS = 2,
	TC_ACT_UNSPEC = -1,
	BPF_OK = 0,
	SK_PASS = 1,
	NF_ACCEPT = 1,
};

// The first field of the kernel's struct __sk_buff.
struct __sk_buff {
	__u32 len;
};

// The kernel has no names for these two.
enum {
	WHOLE_PACKET = -1, // the length to which a socket filter trims
	CGROUP_ALLOW = 1,
};
