// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * net_group: network policies where IPv4 and IPv6 sockets act, on both tiers.
 *
 * Hooks and duties (on the root of the v2 hierarchy, by the label of the current task)
 *   cgroup/sock_create             which kinds of sockets; notes whose a socket is
 *   cgroup/connect4 connect6       TCP, Fast Open, connected UDP
 *   cgroup/sendmsg4 sendmsg6       UDP to an address; AF_UNSPEC means IPv4 there
 *   cgroup/bind4 bind6             a port others could reach
 *   cgroup/setsockopt              options that send packets elsewhere
 * and on the group of a launched tree, where nothing else sees control messages and listen(2):
 *   cgroup_skb/egress              packets with source routes or routing headers
 *   cgroup_skb/ingress             a first packet of TCP to a port that may not be listened on
 *
 * Being on the root they hold for a task wherever it moves. No socket storage, no socket.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "net_ask.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { PASS = 1, REFUSE = 0 };

#define ntohs(x) __builtin_bswap16(x)

SEC("cgroup/sock_create")
int net_group_sock_create(struct bpf_sock *sk)
{
	struct net_ask ask = { .act = SBX_ACT_SOCKET };
	__u64 *owner;

	ask.sandbox = net_subject();
	if (!ask.sandbox)
		return PASS;
	owner = bpf_sk_storage_get(&net_socks, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!owner)
		return REFUSE;
	*owner = ask.sandbox;
	ask.family = sk->family;
	ask.type = sk->type;
	ask.protocol = sk->protocol;
	if (net_is_plain(ask.family, ask.type, ask.protocol))
		return PASS;
	return net_refuse(&ask) ? REFUSE : PASS;
}

/* ---- addresses ---------------------------------------------------------------------------------- */

static __always_inline void note_owner(struct net_ask *ask, struct bpf_sock *sk)
{
	__u64 *owner;

	if (!sk) {
		ask->near = NET_NOBODY;
		return;
	}
	ask->near = NET_OWNED;
	owner = bpf_sk_storage_get(&net_socks, sk, 0, 0);
	ask->owner = owner ? *owner : 0;
	bpf_sk_release(sk);
}

/* Who would get it. What is sent to the unspecified address goes to loopback. */
static __always_inline struct bpf_sock *listener(struct bpf_sock_addr *ctx,
						 const struct net_ask *ask)
{
	struct bpf_sock_tuple t = {};
	__u32 size;

	if (ask->version == SBX_NET_V4) {
		t.ipv4.daddr = ask->address[0] ? ask->address[0] : __builtin_bswap32(0x7f000001);
		t.ipv4.saddr = __builtin_bswap32(0x7f000001);
		t.ipv4.dport = ntohs((__u16)ask->port);
		size = sizeof(t.ipv4);
	} else {
		t.ipv6.daddr[3] = __builtin_bswap32(1);
		t.ipv6.saddr[3] = __builtin_bswap32(1);
		t.ipv6.dport = ntohs((__u16)ask->port);
		size = sizeof(t.ipv6);
	}
	if (ask->protocol == IPPROTO_TCP)
		return bpf_sk_lookup_tcp(ctx, &t, size, BPF_F_CURRENT_NETNS, 0);
	return bpf_sk_lookup_udp(ctx, &t, size, BPF_F_CURRENT_NETNS, 0);
}

static __always_inline void fill(struct net_ask *ask, struct bpf_sock_addr *ctx, __u32 act)
{
	ask->act = act;
	ask->family = ctx->family;
	ask->type = ctx->type;
	ask->protocol = ctx->protocol;
	ask->port = ntohs((__u16)ctx->user_port);
	ask->space = bpf_get_netns_cookie(ctx);
}

static __always_inline int answer(struct bpf_sock_addr *ctx, struct net_ask *ask)
{
	int error;

	if (ask->act != SBX_ACT_BIND && net_is_near(ask))
		note_owner(ask, listener(ctx, ask));
	error = net_decide(ask);
	if (error == ECONNREFUSED)
		bpf_set_retval(-ECONNREFUSED);
	return error ? REFUSE : PASS;
}

static __always_inline int ask_4(struct bpf_sock_addr *ctx, __u32 act)
{
	struct net_ask ask = {};

	ask.sandbox = net_subject();
	if (!ask.sandbox)
		return PASS;
	fill(&ask, ctx, act);
	net_ask_v4(&ask, ctx->user_ip4);
	return answer(ctx, &ask);
}

static __always_inline int ask_6(struct bpf_sock_addr *ctx, __u32 act)
{
	struct net_ask ask = {};

	ask.sandbox = net_subject();
	if (!ask.sandbox)
		return PASS;
	fill(&ask, ctx, act);
	net_ask_v6(&ask, ctx->user_ip6[0], ctx->user_ip6[1], ctx->user_ip6[2], ctx->user_ip6[3]);
	return answer(ctx, &ask);
}

SEC("cgroup/connect4")
int net_group_connect4(struct bpf_sock_addr *ctx)
{
	return ask_4(ctx, SBX_ACT_CONNECT);
}

SEC("cgroup/connect6")
int net_group_connect6(struct bpf_sock_addr *ctx)
{
	return ask_6(ctx, SBX_ACT_CONNECT);
}

SEC("cgroup/sendmsg4")
int net_group_sendmsg4(struct bpf_sock_addr *ctx)
{
	return ask_4(ctx, SBX_ACT_SEND);
}

SEC("cgroup/sendmsg6")
int net_group_sendmsg6(struct bpf_sock_addr *ctx)
{
	return ask_6(ctx, SBX_ACT_SEND);
}

SEC("cgroup/bind4")
int net_group_bind4(struct bpf_sock_addr *ctx)
{
	return ask_4(ctx, SBX_ACT_BIND);
}

SEC("cgroup/bind6")
int net_group_bind6(struct bpf_sock_addr *ctx)
{
	return ask_6(ctx, SBX_ACT_BIND);
}

/* ---- options ------------------------------------------------------------------------------------ */

#define PAGE 4096 /* of a longer option the kernel would use the first page alone */

SEC("cgroup/setsockopt")
int net_group_setsockopt(struct bpf_sockopt *ctx)
{
	struct net_ask ask = { .act = SBX_ACT_OPTION };

	if (ctx->optlen > PAGE)
		ctx->optlen = 0; /* as the program gave it */
	if (!net_is_detour(ctx->level, ctx->optname))
		return PASS;
	ask.sandbox = net_subject();
	if (!ask.sandbox)
		return PASS;
	ask.level = ctx->level;
	ask.option = ctx->optname;
	return net_refuse(&ask) ? REFUSE : PASS;
}

/* ---- packets ------------------------------------------------------------------------------------ */

enum { ETH_P_IP = 0x0800, ETH_P_IPV6 = 0x86dd };

static __always_inline bool has_detour(struct __sk_buff *skb)
{
	__u8 byte = 0;

	if (skb->protocol == __builtin_bswap16(ETH_P_IP)) /* more than 20 bytes of header */
		return bpf_skb_load_bytes(skb, 0, &byte, 1) || (byte & 0xf) > 5;
	if (skb->protocol != __builtin_bswap16(ETH_P_IPV6))
		return true;
	if (bpf_skb_load_bytes(skb, 6, &byte, 1))
		return true;
	return byte == 0 || byte == 43 || byte == 60; /* hop by hop, routing, destination */
}

SEC("cgroup_skb/egress")
int net_group_egress(struct __sk_buff *skb)
{
	return has_detour(skb) ? REFUSE : PASS;
}

/* Where a first packet of TCP goes to. False: it is something else. */
static __always_inline bool first_packet(struct __sk_buff *skb, struct net_ask *ask)
{
	bool six = skb->protocol == __builtin_bswap16(ETH_P_IPV6);
	__u32 tcp = six ? 40 : 20;
	__u8 flags = 0, protocol = 0;
	__u16 port = 0;

	if (bpf_skb_load_bytes(skb, six ? 6 : 9, &protocol, 1) || protocol != IPPROTO_TCP)
		return false;
	if (bpf_skb_load_bytes(skb, tcp + 13, &flags, 1) ||
	    (flags & 0x12) != 0x02) /* SYN, no ACK */
		return false;
	if (bpf_skb_load_bytes(skb, tcp + 2, &port, 2) ||
	    bpf_skb_load_bytes(skb, six ? 24 : 16, ask->address, six ? 16 : 4))
		return false;
	ask->version = six ? SBX_NET_V6 : SBX_NET_V4;
	ask->protocol = IPPROTO_TCP;
	ask->port = ntohs(port);
	return true;
}

/* Not by the current task: packets come in for whoever made the socket. */
SEC("cgroup_skb/ingress")
int net_group_ingress(struct __sk_buff *skb)
{
	struct net_ask ask = { .act = SBX_ACT_LISTEN };
	struct bpf_sock *sk = skb->sk;
	__u64 *owner;

	if (has_detour(skb))
		return REFUSE;
	if (!first_packet(skb, &ask) || !sk)
		return PASS;
	owner = bpf_sk_storage_get(&net_socks, sk, 0, 0);
	if (!owner || !*owner)
		return net_is_near(&ask) ? PASS : REFUSE;
	ask.sandbox = *owner;
	ask.quiet = true;
	return net_decide(&ask) ? REFUSE : PASS;
}
