// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * net_lsm: network policies where the hooks of net_group.bpf.c see nothing, on tier A.
 *
 * Hooks and duties (all lsm/, all may refuse but post_create's)
 *   socket_create        families, types and protocols
 *   socket_post_create   notes whose a unix socket is
 *   socket_connect       IPv4 and IPv6 once more, in case the groups' hooks are not asked
 *   socket_listen        without a bind, too
 *   socket_sendmsg       control messages, which may carry a source route
 *   socket_setsockopt    options that send packets elsewhere
 *   unix_stream_connect, unix_may_send    sockets of processes outside the tree
 *
 * A unix socket is inside when a member made it. Which one is meant by a path is told by its directory
 * and name, or its inode; no path is read.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "denial.bpf.h"
#include "fs_name.bpf.h"
#include "net_ask.bpf.h"
#include "plain.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline int verdict(int error)
{
	return error ? -EPERM : 0;
}

SEC("lsm/socket_create")
int BPF_PROG(net_lsm_create, int family, int type, int protocol, int kern, int ret)
{
	struct net_ask ask = { .act = SBX_ACT_SOCKET };

	if (ret || kern)
		return ret;
	ask.sandbox = net_subject();
	if (!ask.sandbox || net_is_plain(family, type & 0xf, protocol))
		return 0;
	ask.family = family;
	ask.type = type & 0xf;
	ask.protocol = protocol;
	return verdict(net_refuse(&ask));
}

/* No room to say whose it is: it goes again. */
SEC("lsm/socket_post_create")
int BPF_PROG(net_lsm_post_create, struct socket *sock, int family, int type, int protocol, int kern,
	     int ret)
{
	__u64 *owner, sandbox;
	struct sock *sk;

	if (ret || kern || family != AF_UNIX)
		return ret;
	sandbox = net_subject();
	sk = sock->sk;
	if (!sandbox || !sk)
		return 0;
	owner = bpf_sk_storage_get(&net_socks, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!owner)
		return -EPERM;
	*owner = sandbox;
	return 0;
}

static __always_inline void describe(struct net_ask *ask, const struct sock *sk)
{
	struct net *space = sk->__sk_common.skc_net.net;

	ask->family = sk->__sk_common.skc_family;
	ask->type = sk->sk_type;
	ask->protocol = sk->sk_protocol;
	ask->space = space->net_cookie;
}

/* ---- IPv4 and IPv6 ------------------------------------------------------------------------------- */

/* The address of a 16 byte sockaddr lies within it; an IPv6 one is left to the groups' hooks. */
SEC("lsm/socket_connect")
int BPF_PROG(net_lsm_connect, struct socket *sock, struct sockaddr *address, int addrlen, int ret)
{
	struct net_ask ask = { .act = SBX_ACT_CONNECT, .near = NET_LATER };
	struct sock *sk;

	if (ret || address->sa_family != AF_INET)
		return ret;
	ask.sandbox = net_subject();
	sk = sock->sk;
	if (!ask.sandbox || !sk)
		return 0;
	describe(&ask, sk);
	if (ask.family != AF_INET && ask.family != AF_INET6)
		return 0;
	ask.port = (__u32)(__u8)address->sa_data[0] << 8 | (__u8)address->sa_data[1];
	net_ask_v4(&ask, (__u8)address->sa_data[2] | (__u32)(__u8)address->sa_data[3] << 8 |
				 (__u32)(__u8)address->sa_data[4] << 16 |
				 (__u32)(__u8)address->sa_data[5] << 24);
	return verdict(net_decide(&ask));
}

SEC("lsm/socket_listen")
int BPF_PROG(net_lsm_listen, struct socket *sock, int backlog, int ret)
{
	struct net_ask ask = { .act = SBX_ACT_LISTEN };
	struct sock *sk;

	if (ret)
		return ret;
	ask.sandbox = net_subject();
	sk = sock->sk;
	if (!ask.sandbox || !sk)
		return 0;
	describe(&ask, sk);
	ask.port = sk->__sk_common.skc_num;
	if (ask.family == AF_INET)
		net_ask_v4(&ask, sk->__sk_common.skc_rcv_saddr);
	else if (ask.family == AF_INET6)
		net_ask_v6(&ask, sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[0],
			   sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[1],
			   sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[2],
			   sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[3]);
	else
		return 0;
	return verdict(net_decide(&ask));
}

/* Datagrams only: TCP takes no address from one. */
SEC("lsm/socket_sendmsg")
int BPF_PROG(net_lsm_sendmsg, struct socket *sock, struct msghdr *msg, int size, int ret)
{
	struct net_ask ask = { .act = SBX_ACT_OPTION };
	struct sock *sk;

	if (ret || !msg->msg_controllen)
		return ret;
	ask.sandbox = net_subject();
	sk = sock->sk;
	if (!ask.sandbox || !sk || sk->sk_type == SOCK_STREAM)
		return 0;
	describe(&ask, sk);
	if (ask.family != AF_INET && ask.family != AF_INET6)
		return 0;
	return verdict(net_refuse(&ask));
}

SEC("lsm/socket_setsockopt")
int BPF_PROG(net_lsm_setsockopt, struct socket *sock, int level, int optname, int ret)
{
	struct net_ask ask = { .act = SBX_ACT_OPTION };
	struct sock *sk;

	if (ret || !net_is_detour(level, optname))
		return ret;
	ask.sandbox = net_subject();
	sk = sock->sk;
	if (!ask.sandbox || !sk)
		return 0;
	describe(&ask, sk);
	ask.level = level;
	ask.option = optname;
	return verdict(net_refuse(&ask));
}

/* ---- AF_UNIX --------------------------------------------------------------------------------------- */

struct reach {
	struct sbx_net_unix_key key; /* generation is filled in for each policy */
	struct sbx_net_unix_key by_inode;
	__u64 sandbox;
	__u64 owner; /* of the other socket, 0: nobody here */
	__u64 refused_by;
};

static __always_inline int inside(__u64 sandbox, __u64 top)
{
	for (int i = 0; i < SBX_MAX_NEST; i++) {
		struct sbx_sandbox *sb;

		if (sandbox == top)
			return 1;
		sb = sandbox_of(sandbox);
		if (!sb)
			return 0;
		sandbox = sb->parent;
	}
	return 0;
}

static long reach_step(__u32 i, struct reach *r)
{
	struct sbx_sandbox *sb = sandbox_of(r->sandbox);
	__u64 generation;

	if (!sb)
		return 1;
	generation = sb->net_generation;
	r->key.generation = generation;
	r->by_inode.generation = generation;
	if (generation && !(r->owner && inside(r->owner, sb->id)) &&
	    !bpf_map_lookup_elem(&net_unix, &r->key) &&
	    !bpf_map_lookup_elem(&net_unix, &r->by_inode)) {
		r->refused_by = sb->id;
		if (!(generation & SBX_NET_AUDIT))
			return 1;
	}
	r->sandbox = sb->parent;
	return !r->sandbox;
}

/* FNV-1a of an abstract name. Unrolled: a kernel structure is read at constant offsets. */
static __noinline __u64 name_hash(struct unix_address *address)
{
	__u64 hash = 0xcbf29ce484222325ull;
	int len = address->len - 2;

#pragma clang loop unroll(full)
	for (int i = 1; i < 108; i++)
		if (i < len)
			hash = (hash ^ (__u8)address->name[0].sun_path[i]) * 0x100000001b3ull;
	return hash | 1;
}

static __always_inline void name_text(char *to, struct unix_address *address)
{
	int len = address->len - 2;

#pragma clang loop unroll(full)
	for (int i = 0; i < 108; i++)
		if (i < len)
			to[i] = address->name[0].sun_path[i];
	if (len > 0 && !to[0])
		to[0] = '@';
}

/* The inode stays a pointer for the verifier, which may be stored and not reckoned with. */
static __noinline int tell_unix(struct reach *r, struct unix_sock *other, __u32 act, __u32 audit)
{
	struct sbx_denial_key key = { .sandbox = r->refused_by,
				      .object = r->by_inode.hash ?: r->by_inode.inode,
				      .rule = SBX_NO_RULE,
				      .act = act };
	struct unix_address *address = other->addr;
	struct sbx_net_denial *text;
	struct sbx_denial *row;

	if (!denial_put(&key, EPERM, SBX_DENIAL_NET | audit))
		return 0;
	row = denial_row(&key);
	if (!row)
		return 0;
	text = (struct sbx_net_denial *)row->text;
	text->family = AF_UNIX;
	if (address)
		name_text(text->name, address);
	return 0;
}

static __always_inline int ask_unix(struct sock *to, __u32 act)
{
	struct reach r = {};
	struct unix_sock *other;
	struct unix_address *address;
	struct dentry *d;
	__u64 *owner;

	r.sandbox = net_subject();
	if (!r.sandbox)
		return 0;
	owner = bpf_sk_storage_get(&net_socks, to, 0, 0);
	r.owner = owner ? *owner : 0;
	other = bpf_skc_to_unix_sock(to);
	if (!other)
		return -EPERM;
	d = plain_dentry(other->path.dentry);
	address = other->addr;
	if (d) {
		r.by_inode.inode = (__u64)(long)d->d_inode;
		r.key.inode = (__u64)(long)d->d_parent->d_inode;
		if (!name_copy((__u64 *)r.key.name, d))
			r.key.inode = r.by_inode.inode;
	} else if (address) {
		r.by_inode.hash = r.key.hash = name_hash(address);
	}
	bpf_loop(SBX_MAX_NEST, reach_step, &r, 0);
	if (r.refused_by)
		tell_unix(&r, other, act, r.sandbox ? 0 : SBX_DENIAL_AUDIT);
	return r.sandbox ? -EPERM : 0;
}

SEC("lsm/unix_stream_connect")
int BPF_PROG(net_lsm_unix_connect, struct sock *sock, struct sock *other, struct sock *newsk,
	     int ret)
{
	return ret ? ret : ask_unix(other, SBX_ACT_CONNECT);
}

/* Asked for each datagram; what is connected already was judged then, or came so from outside. */
SEC("lsm/unix_may_send")
int BPF_PROG(net_lsm_unix_send, struct socket *sock, struct socket *other, int ret)
{
	struct sock *from = sock->sk, *to = other->sk;
	struct unix_sock *mine;

	if (ret || !from || !to)
		return ret;
	mine = bpf_skc_to_unix_sock(from);
	if (mine && mine->peer == to)
		return 0;
	return ask_unix(to, SBX_ACT_SEND);
}
