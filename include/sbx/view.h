/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * One tracked thread as iter/task shows it (bpf/view.bpf.c) to who looks on. Fixed widths, no
 * pointers, the size asserted on both sides; nothing here is kept in the kernel half.
 */
#ifndef SBX_VIEW_H
#define SBX_VIEW_H

#include "sbx/event.h"

/* sbx_view.flags */
enum {
	SBX_VIEW_EXITING = 1 << 0,
	SBX_VIEW_ROOT = 1 << 1, /* of its sandbox */
};

struct sbx_view {
	__u64 sandbox;	   /* the innermost one */
	__u64 start_ns;	   /* of the process, CLOCK_BOOTTIME */
	__u64 cpu_ns;	   /* of this thread */
	__u64 dead_cpu_ns; /* of the process's threads that have ended */
	__u32 pid;
	__u32 tgid;
	__u32 ppid;  /* process id of the parent */
	__u32 state; /* task->__state: 0 runs; the other bits are the kernel's TASK_* */
	__u32 flags;
	__u32 depth;
	char comm[SBX_COMM]; /* of the process */
};

SBX_ASSERT(sizeof(struct sbx_view) == 72, "sbx_view crosses the boundary");

#endif
