/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * One refused act, aggregated in the kernel half: the hook of tier A (bpf/fs.bpf.c) and the
 * syscall-exit reporter of tier B (bpf/report.bpf.c) write the same map, user/kern/denials reads
 * it. Fixed widths, no pointers, sizes asserted on both sides; part of SBX_ABI.
 */
#ifndef SBX_DENIAL_H
#define SBX_DENIAL_H

#include "sbx/event.h"

#define SBX_MAX_DENIALS 16384		/* rows of all sandboxes; beyond: counted as dropped */
#define SBX_MAX_DENIALS_PER_SANDBOX 512 /* so that one cannot fill it for others */
#define SBX_DENIAL_TEXT 256
#define SBX_DENIAL_NAME 32 /* a component of SBX_DENIAL_NAMES */
#define SBX_NO_RULE 0xffffffffu

/* What was refused; of several that one act needs, the first missing right. */
enum sbx_act {
	SBX_ACT_READ = 1,
	SBX_ACT_WRITE,
	SBX_ACT_EXECUTE,
	SBX_ACT_CREATE,
	SBX_ACT_REMOVE,
	SBX_ACT_RENAME,
	SBX_ACT_LINK,
	SBX_ACT_TRUNCATE,
	SBX_ACT_METADATA, /* mode, owner, times */
	SBX_ACT_XATTR,
	SBX_ACT_IOCTL,
	SBX_ACT_RECEIVE, /* a descriptor over a socket */
	SBX_ACT_MOUNT,
	SBX_ACT_CONNECT, /* what follows is of the network: text is a struct sbx_net_denial */
	SBX_ACT_SEND,
	SBX_ACT_BIND,
	SBX_ACT_LISTEN,
	SBX_ACT_SOCKET, /* a family, type or protocol */
	SBX_ACT_OPTION, /* of a socket, or a control message */
	SBX_ACT__COUNT,
};

/* sbx_denial.flags */
enum {
	SBX_DENIAL_SYSCALL = 1 << 0, /* text is the path as the program gave it; advisory */
	SBX_DENIAL_NAMES =
		1 << 1, /* text is up to 8 names of 32 bytes, the object's own first, each
				      * below the next, the last one below the rule's object or the
				      * file system's root; an empty name ends the list, a name that
				      * does not fit is "?" */
	SBX_DENIAL_AUDIT = 1 << 2, /* it was logged, not refused */
	SBX_DENIAL_CUT = 1 << 3,   /* there are more names above, or the path was longer */
	SBX_DENIAL_NET = 1 << 4,   /* text is a struct sbx_net_denial */
};

struct sbx_denial_key {
	__u64 sandbox;
	__u64 object; /* inode pointer, or a hash of parent and name, of the path, of an address */
	__u32 rule;   /* index in the policy's rules, SBX_NO_RULE when none decided */
	__u32 act;    /* enum sbx_act */
};

struct sbx_denial {
	__u64 count;
	__u64 first_ns, last_ns; /* CLOCK_BOOTTIME */
	__u64 start_ns;		 /* of the process that was first */
	__u32 pid;		 /* its id in the initial pid namespace */
	__u32 error;		 /* positive errno */
	__u32 flags;
	__u32 dev; /* s_dev of the object's file system, 0 when unknown */
	char comm[SBX_COMM];
	char text[SBX_DENIAL_TEXT];
};

SBX_ASSERT(sizeof(struct sbx_denial_key) == 24, "sbx_denial_key crosses the boundary");
SBX_ASSERT(sizeof(struct sbx_denial) == 320, "sbx_denial crosses the boundary");

#endif
