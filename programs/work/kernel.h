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

enum xdp_action {
	XDP_DROP = 1,
	XDP_PASS = 2,
};

struct xdp_md {
	__u32 data;
	__u32 data_end;
	__u32 data_meta;
	__u32 ingress_ifindex;
	__u32 rx_queue_index;
	__u32 egress_ifindex;
};
