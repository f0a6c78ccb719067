// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * net: network policies: the decision, which every hook asks (net_group.bpf.c: cgroup hooks, on both
 * tiers; net_lsm.bpf.c: what they do not see, on tier A).
 *
 * Theory of operation
 *
 * A policy is a generation of rows: the longest prefix that holds an address has all ports that any rule
 * admits there, so one look-up and a short scan decide (user/policy/net_table makes the union, and rows
 * without ports for ranges that no wider rule reaches). Addresses that a resolver gave out for a name are
 * rows of the sandbox with an end.
 *
 * Loopback is inside as far as a member of the sandbox listens there: the hook looks up who would get the
 * packet, and the socket's own storage says who made it. In a network namespace of the sandbox's own all of
 * loopback is inside.
 *
 * Every sandbox around the task is asked, the innermost first; a missing row refuses, and so does a bound
 * that is reached. Denials are counted after the verdict (denial.bpf.h).
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "denial.bpf.h"
#include "net_ask.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline bool has_port(const struct sbx_net_ports *ports, const struct net_ask *ask)
{
	for (__u32 i = 0; i < SBX_NET_RANGES && i < ports->count; i++) {
		const struct sbx_net_range *r = &ports->ranges[i];

		if (r->protocol == ask->protocol && r->first <= ask->port && ask->port <= r->last)
			return true;
	}
	return false;
}

static __noinline bool by_rule(const struct net_ask *ask, __u64 generation)
{
	struct sbx_net_key key = { .prefixlen = SBX_NET_KEY_BITS + 128,
				   .version = ask->version,
				   .generation = generation };
	struct sbx_net_ports *ports;

	__builtin_memcpy(key.address, ask->address, sizeof(key.address));
	ports = bpf_map_lookup_elem(&net_rules, &key);
	return ports && has_port(ports, ask);
}

static __noinline bool by_name(const struct net_ask *ask, __u64 sandbox)
{
	struct sbx_net_named_key key = { .sandbox = sandbox, .version = ask->version };
	struct sbx_net_named *named;
	__u64 now;

	__builtin_memcpy(key.address, ask->address, sizeof(key.address));
	named = bpf_map_lookup_elem(&net_named, &key);
	if (!named)
		return false;
	now = bpf_ktime_get_boot_ns();
	for (__u32 i = 0; i < SBX_NET_RANGES && i < named->ports.count; i++) {
		const struct sbx_net_range *r = &named->ports.ranges[i];

		if (r->protocol == ask->protocol && r->first <= ask->port && ask->port <= r->last &&
		    now < named->expires_ns[i])
			return true;
	}
	return false;
}

static __noinline bool may_listen(const struct net_ask *ask, __u64 generation)
{
	struct sbx_net_key key = { .prefixlen = SBX_NET_KEY_BITS + 16,
				   .version = SBX_NET_PORT,
				   .generation = generation,
				   .address = { ask->port >> 8, ask->port } };

	return ask->port && bpf_map_lookup_elem(&net_rules, &key);
}

/* Whether `sandbox` is `top` or one inside it. */
static __noinline bool is_inside(__u64 sandbox, __u64 top)
{
	for (int i = 0; i < SBX_MAX_NEST; i++) {
		struct sbx_sandbox *sb;

		if (sandbox == top)
			return true;
		sb = sandbox_of(sandbox);
		if (!sb)
			return false;
		sandbox = sb->parent;
	}
	return false;
}

/* Nobody outside hears it. Multicast stays in a namespace that has loopback alone. */
static __always_inline bool is_own(const struct net_ask *ask, const struct sbx_sandbox *sb)
{
	bool own = sb->net_space && sb->net_space == ask->space;

	if (own && (ask->act == SBX_ACT_BIND || ask->act == SBX_ACT_LISTEN))
		return true;
	if (!net_is_near(ask))
		return own && (ask->version == SBX_NET_V4 ? (ask->address[0] & 0xf0) == 0xe0
							  : (ask->address[0] & 0xff) == 0xff);
	if (ask->act == SBX_ACT_BIND || ask->act == SBX_ACT_LISTEN)
		return !net_is_wildcard(ask);
	return own || ask->near == NET_LATER ||
	       (ask->near == NET_OWNED && ask->owner && is_inside(ask->owner, sb->id));
}

/* A socket that asks for any port binds as one that sends without asking: what listens is asked again. */
static __noinline bool judge(const struct net_ask *ask, const struct sbx_sandbox *sb)
{
	__u64 generation = sb->net_generation;

	if (is_own(ask, sb))
		return true;
	if (ask->act == SBX_ACT_BIND || ask->act == SBX_ACT_LISTEN)
		return (ask->act == SBX_ACT_BIND && !ask->port) || may_listen(ask, generation);
	return by_rule(ask, generation) || by_name(ask, sb->id);
}

/* ---- telling ----------------------------------------------------------------------------------- */

static __always_inline __u64 object_of(const struct net_ask *ask)
{
	__u64 hash = 0xcbf29ce484222325ull;

	for (int i = 0; i < 4; i++)
		hash = (hash ^ ask->address[i]) * 0x100000001b3ull;
	hash = (hash ^ ((__u64)ask->port << 32 | ask->protocol << 16 | ask->version)) *
	       0x100000001b3ull;
	hash = (hash ^ ((__u64)ask->family << 32 | ask->type)) * 0x100000001b3ull;
	return (hash ^ ((__u64)ask->level << 32 | ask->option)) * 0x100000001b3ull;
}

static __noinline void tell(const struct net_ask *ask, __u64 sandbox, __u32 flags)
{
	struct sbx_denial_key key = {
		.sandbox = sandbox, .object = object_of(ask), .rule = SBX_NO_RULE, .act = ask->act
	};
	struct sbx_net_denial *text;
	struct sbx_denial *row;

	if (ask->quiet || !denial_put(&key, EPERM, SBX_DENIAL_NET | flags))
		return;
	row = denial_row(&key);
	if (!row)
		return;
	text = (struct sbx_net_denial *)row->text;
	text->version = ask->version;
	text->family = ask->family;
	text->type = ask->type;
	text->protocol = ask->protocol;
	text->port = ask->port;
	text->level = ask->level;
	text->option = ask->option;
	__builtin_memcpy(text->address, ask->address, sizeof(text->address));
}

/* ---- asking ------------------------------------------------------------------------------------ */

static long decide_step(__u32 i, struct net_ask *ask)
{
	struct sbx_sandbox *sb = sandbox_of(ask->sandbox);
	__u64 generation;

	if (!sb)
		return 1; /* ask->sandbox is not 0: refused */
	generation = sb->net_generation;
	if (generation && !judge(ask, sb)) {
		tell(ask, sb->id, generation & SBX_NET_AUDIT ? SBX_DENIAL_AUDIT : 0);
		if (!(generation & SBX_NET_AUDIT))
			return 1;
	}
	ask->sandbox = sb->parent;
	return !ask->sandbox;
}

int net_decide(struct net_ask *ask)
{
	struct net_ask mine;

	if (!ask)
		return EPERM;
	mine = *ask; /* on the stack, where a callback's context must lie */
	bpf_loop(SBX_MAX_NEST, decide_step, &mine, 0);
	if (!mine.sandbox)
		return 0;
	return mine.near == NET_NOBODY && net_is_near(&mine) ? ECONNREFUSED : EPERM;
}

int net_refuse(struct net_ask *ask)
{
	struct net_ask mine;
	struct sbx_sandbox *sb;

	if (!ask)
		return EPERM;
	mine = *ask;
	for (int i = 0; i < SBX_MAX_NEST && mine.sandbox; i++) {
		sb = sandbox_of(mine.sandbox);
		if (!sb)
			return EPERM;
		if (sb->net_generation) {
			tell(&mine, sb->id,
			     sb->net_generation & SBX_NET_AUDIT ? SBX_DENIAL_AUDIT : 0);
			if (!(sb->net_generation & SBX_NET_AUDIT))
				return EPERM;
		}
		mine.sandbox = sb->parent;
	}
	return mine.sandbox ? EPERM : 0;
}
