/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of network policies: user/kern/net fills them, bpf/net*.bpf.c decide by them. Fixed widths, no
 * pointers, sizes asserted on both sides; part of SBX_ABI.
 *
 * The rules of one policy share a generation. A policy is in force when a sandbox's row names its
 * generation. Addresses that a resolver gave out belong to the sandbox, not to a generation.
 */
#ifndef SBX_NET_H
#define SBX_NET_H

#include "sbx/event.h"

#define SBX_MAX_NET_RULES 65536 /* of all policies */
#define SBX_MAX_NET_NAMED 65536 /* addresses behind names, of all sandboxes */
#define SBX_MAX_NET_NAMED_PER_SANDBOX 4096
#define SBX_MAX_NET_UNIX 16384
#define SBX_NET_RANGES 16 /* of ports, for one address; adjacent ones are joined */

/* What holds for a whole policy: the low byte of its generation. */
enum {
	SBX_NET_AUDIT = 1 << 0, /* logs, refuses nothing */
};
#define SBX_NET_FLAGS_BITS 8

/* sbx_net_key.version */
enum { SBX_NET_PORT = 2, SBX_NET_V4 = 4, SBX_NET_V6 = 6 };

/* Of the longest prefix that matches, the ports. An IPv4 address is the first four bytes; a port that may
 * be listened on (SBX_NET_PORT) the first two, in network order. */
struct sbx_net_key {
	__u32 prefixlen; /* bits of all that follows: SBX_NET_KEY_BITS and those of the address */
	__u32 version;
	__u64 generation;
	__u8 address[16];
};
#define SBX_NET_KEY_BITS 96

struct sbx_net_range {
	__u16 first, last;
	__u16 protocol; /* IPPROTO_TCP, IPPROTO_UDP */
	__u16 pad;
};

struct sbx_net_ports {
	__u32 count;
	__u32 pad;
	struct sbx_net_range ranges[SBX_NET_RANGES];
};

/* One address that a name led to. */
struct sbx_net_named_key {
	__u64 sandbox;
	__u32 version;
	__u32 pad;
	__u8 address[16];
};

struct sbx_net_named {
	__u64 expires_ns[SBX_NET_RANGES]; /* CLOCK_BOOTTIME, of the range of that index */
	struct sbx_net_ports ports;
};

/* A socket outside that may be reached: `inode` is that of its directory, or of the socket itself where
 * `name` is empty; 0 for an abstract one, whose name has that hash. */
#define SBX_NET_UNIX_NAME 32 /* with its terminator; the rest is zero */
struct sbx_net_unix_key {
	__u64 generation;
	__u64 inode;
	__u64 hash;
	char name[SBX_NET_UNIX_NAME];
};

#define SBX_NET_PATH 108 /* of a unix socket's name */

/* text of a denial that has SBX_DENIAL_NET. */
struct sbx_net_denial {
	__u32 version; /* SBX_NET_V4, SBX_NET_V6; 0: no address */
	__u32 family, type, protocol;
	__u32 port;	     /* host order */
	__u32 level, option; /* SBX_ACT_OPTION */
	__u32 pad;
	__u8 address[16];
	char name[112]; /* of a unix socket: '@' and its name, or the last part of its path */
};

SBX_ASSERT(sizeof(struct sbx_net_key) == 32, "sbx_net_key crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_net_ports) == 136, "sbx_net_ports crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_net_named_key) == 32, "sbx_net_named_key crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_net_named) == 264, "sbx_net_named crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_net_unix_key) == 56, "sbx_net_unix_key crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_net_denial) == 160, "sbx_net_denial crosses the boundary");

#endif
