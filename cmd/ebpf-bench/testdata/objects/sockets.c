// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// What people attach to cgroups and sockets: a program that counts packets by
// their peer, one that sends connections to another address, a proxy by a
// sockmap, and so on. Some drop or refuse everything.

#include <linux/bpf.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} packets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SOCKHASH);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u64);
} proxy SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} servers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_REUSEPORT_SOCKARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u64);
} group SEC(".maps");

static __always_inline int count(__u32 peer)
{
	__u64 one = 1, *n = bpf_map_lookup_elem(&packets, &peer);

	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&packets, &peer, &one, BPF_ANY);
	return 1;
}

SEC("cgroup_skb/ingress")
int ingress(struct __sk_buff *skb)
{
	struct iphdr ip;

	if (bpf_skb_load_bytes(skb, 0, &ip, sizeof(ip)))
		return 1;
	return count(ip.saddr);
}

SEC("cgroup_skb/egress")
int egress(struct __sk_buff *skb)
{
	struct iphdr ip;

	if (bpf_skb_load_bytes(skb, 0, &ip, sizeof(ip)))
		return 1;
	return count(ip.daddr);
}

SEC("cgroup_skb/ingress")
int drop_ingress(struct __sk_buff *skb)
{
	return 0;
}

SEC("cgroup_skb/egress")
int drop_egress(struct __sk_buff *skb)
{
	return 0;
}

SEC("cgroup/connect4")
int redirect_connect(struct bpf_sock_addr *ctx)
{
	count(ctx->user_ip4);
	// Nobody listens there.
	ctx->user_port = bpf_htons(9);
	return 1;
}

SEC("cgroup/connect4")
int refuse_connect(struct bpf_sock_addr *ctx)
{
	return 0;
}

SEC("cgroup/connect_unix")
int connect_unix(struct bpf_sock_addr *ctx)
{
	return 1;
}

SEC("cgroup/sysctl")
int sysctl_name(struct bpf_sysctl *ctx)
{
	char name[32] = {};

	bpf_sysctl_get_name(ctx, name, sizeof(name), 0);
	return 1;
}

SEC("sockops")
int into_sockhash(struct bpf_sock_ops *ctx)
{
	__u32 key = ctx->remote_port;

	switch (ctx->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		bpf_sock_hash_update(ctx, &proxy, &key, BPF_ANY);
	}
	return 1;
}

SEC("sk_msg")
int msg_to_backend(struct sk_msg_md *msg)
{
	__u32 backend = 1;

	return bpf_msg_redirect_hash(msg, &proxy, &backend, 0);
}

SEC("sk_msg")
int msg_inbound(struct sk_msg_md *msg)
{
	__u32 backend = 1;

	return bpf_msg_redirect_hash(msg, &proxy, &backend, BPF_F_INGRESS);
}

SEC("sk_msg")
int msg_drop(struct sk_msg_md *msg)
{
	return SK_DROP;
}

SEC("sk_skb/stream_parser")
int skb_parser(struct __sk_buff *skb)
{
	return skb->len;
}

SEC("sk_skb/stream_verdict")
int skb_to_backend(struct __sk_buff *skb)
{
	__u32 backend = 1;

	return bpf_sk_redirect_hash(skb, &proxy, &backend, 0);
}

SEC("sk_skb/stream_verdict")
int skb_echo(struct __sk_buff *skb)
{
	__u32 client = 0;

	return bpf_sk_redirect_hash(skb, &proxy, &client, 0);
}

SEC("sk_skb/stream_verdict")
int skb_drop(struct __sk_buff *skb)
{
	return SK_DROP;
}

SEC("sk_reuseport")
int reuseport(struct sk_reuseport_md *ctx)
{
	__u32 key = ctx->hash % 8;

	return bpf_sk_select_reuseport(ctx, &group, &key, 0) ? SK_DROP : SK_PASS;
}

SEC("sk_reuseport")
int reuseport_drop(struct sk_reuseport_md *ctx)
{
	return SK_DROP;
}

SEC("sk_lookup")
int lookup(struct bpf_sk_lookup *ctx)
{
	__u32 key = 0;
	struct bpf_sock *sk = bpf_map_lookup_elem(&servers, &key);
	int err;

	if (!sk)
		return SK_PASS;
	err = bpf_sk_assign(ctx, sk, 0);
	bpf_sk_release(sk);
	return err ? SK_DROP : SK_PASS;
}

SEC("sk_lookup")
int lookup_drop(struct bpf_sk_lookup *ctx)
{
	return SK_DROP;
}

SEC("socket")
int filter_all(struct __sk_buff *skb)
{
	return skb->len;
}

SEC("socket")
int filter_drop(struct __sk_buff *skb)
{
	return 0;
}
