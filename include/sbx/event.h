/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * One record in a keeper's ring: a process was forked, has executed a file, or has ended. Fixed
 * widths, no pointers, the size asserted on both sides; part of SBX_ABI (sbx/kern.h).
 */
#ifndef SBX_EVENT_H
#define SBX_EVENT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#ifdef __cplusplus
#define SBX_ASSERT static_assert
#else
#define SBX_ASSERT _Static_assert
#endif

#define SBX_COMM 16

enum {
	SBX_EVENT_FORK = 1,
	SBX_EVENT_EXEC = 2,
	SBX_EVENT_EXIT = 3,
	SBX_EVENT_DENIED =
		4, /* the first of its kind, status is the errno (sbx/denial.h has all) */
};

/* sbx_event.flags */
enum {
	SBX_EVENT_LIMIT =
		1 << 0, /* this fork or exec crossed a limit: the reader is woken at once */
	SBX_EVENT_ESCAPED = 1 << 1, /* exit: the process was outside the sandbox's group */
};

/* One record in the keeper's ring, about a process. Telemetry: may be dropped (counted),
 * decides nothing. */
struct sbx_event {
	__u64 sandbox;
	__u64 time_ns;	/* CLOCK_BOOTTIME */
	__u64 start_ns; /* when the process started */
	__u64 cpu_ns;	/* exit: user + system of the process, 0 when unknown */
	__u32 kind;
	__u32 pid; /* process id (tgid) */
	__u32 ppid;
	__u32 status; /* exit: as waitpid(2) */
	__u32 flags;
	__u32 depth;
	char comm[SBX_COMM];
};

SBX_ASSERT(sizeof(struct sbx_event) == 72, "sbx_event crosses the boundary");

#endif
