/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * net_ask: one act on the network, asked of the policies around a task. net.bpf.c decides.
 */
#ifndef NET_ASK_BPF_H
#define NET_ASK_BPF_H

#include "net_kind.bpf.h"
#include "net_maps.bpf.h"
#include "sbx/denial.h"

/* net_ask.near: what is known of who listens on a loopback address */
enum {
	NET_UNKNOWN = 0, /* not looked up */
	NET_NOBODY,
	NET_OWNED, /* `owner` has the sandbox, 0: none */
	NET_LATER, /* a hook that knows more follows: loopback passes here */
};

struct net_ask {
	__u64 sandbox;
	__u64 space; /* cookie of the socket's network namespace */
	__u64 owner;
	__u32 near;
	__u32 quiet; /* the current task has no part in it: not told */
	__u32 pad;
	__u32 act; /* enum sbx_act */
	__u32 version;
	__u32 protocol, port; /* host order */
	__u32 family, type;
	__u32 level, option;
	__u32 address[4]; /* network order */
};

/* Positive errno, counted and told; 0: allowed. Global functions, verified once each. */
extern int net_decide(struct net_ask *ask);
/* A refusal that no address decides. */
extern int net_refuse(struct net_ask *ask);

/* Which sandbox of the task, the innermost first, has a policy at all: 0, none. */
static __always_inline __u64 net_bound(__u64 sandbox)
{
	struct sbx_sandbox *sb = sandbox_of(sandbox);

	for (int i = 0; i < SBX_MAX_NEST && sb; i++) {
		if (sb->net_generation)
			return sb->id;
		sb = sandbox_of(sb->parent);
	}
	return 0;
}

static __always_inline void net_ask_v4(struct net_ask *ask, __u32 address)
{
	ask->version = SBX_NET_V4;
	ask->address[0] = address;
}

/* ::ffff:a.b.c.d is IPv4. */
static __always_inline void net_ask_v6(struct net_ask *ask, __u32 a, __u32 b, __u32 c, __u32 d)
{
	if (!a && !b && c == __builtin_bswap32(0xffff)) {
		net_ask_v4(ask, d);
		return;
	}
	ask->version = SBX_NET_V6;
	ask->address[0] = a;
	ask->address[1] = b;
	ask->address[2] = c;
	ask->address[3] = d;
}

static __always_inline bool net_is_wildcard(const struct net_ask *ask)
{
	return !(ask->address[0] | ask->address[1] | ask->address[2] | ask->address[3]);
}

/* Loopback, and the unspecified address, which a connect takes for it. */
static __always_inline bool net_is_near(const struct net_ask *ask)
{
	if (net_is_wildcard(ask))
		return true;
	if (ask->version == SBX_NET_V4)
		return (ask->address[0] & 0xff) == 127;
	return !(ask->address[0] | ask->address[1] | ask->address[2]) &&
	       ask->address[3] == __builtin_bswap32(1);
}

#endif
