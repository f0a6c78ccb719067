/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/* adopt: the answer of the kernel half to a tree that runs already. */
#ifndef SBX_ADOPT_H
#define SBX_ADOPT_H

#include "sbx/kern_calls.h"

/* Of sbx_control.what: adopt_tasks, for the calling thread. */
enum { SBX_CONTROL_ADOPT = 16 };
/* What one pass of adopt_tasks found, and with `error` set, why it is not enough. */
struct sbx_adopted {
	__u32 added;   /* threads that have a row now */
	__u32 foreign; /* processes of other sandboxes right below the tree */
	__u32 headless; /* a process whose leader has exited: to be labelled through its pidfd; 0: none */
	__s32 error;
};
SBX_ASSERT(sizeof(struct sbx_adopted) == 16, "sbx_adopted crosses the boundary");

#endif
