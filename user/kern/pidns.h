/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pidns: a pid namespace for one run, held by our init.
 *
 * The init only reaps orphans. It is no member of the tree and takes no orders from inside; it dies
 * with the keeper (PDEATHSIG), with the owner, and at the second timer of a keeper that is stopped when
 * the deadline comes. With it the kernel kills everything in the namespace: the kernel kill of
 * kernels whose exit hook cannot send signals. The command's parent stays the keeper.
 */
#ifndef KERN_PIDNS_H
#define KERN_PIDNS_H

#include <sys/types.h>

#include "base/err.h"

struct pidns {
	pid_t pid;
	int pidfd; /* for setns, -1: none */
};
#define PIDNS_NONE                     \
	{                              \
		.pid = -1, .pidfd = -1 \
	}

/* Beside the keeper: descriptors whose readiness ends it, borrowed, -1: none. */
struct pidns_ends {
	int timer_fd; /* the keeper did not keep the deadline */
	int owner_fd;
	short owner_events;
};
#define PIDNS_NO_ENDS (&(struct pidns_ends){ .timer_fd = -1, .owner_fd = -1 })
int pidns_start(struct pidns *ns, const struct pidns_ends *ends, struct err *err);
/* The caller's next children are born in the namespace; pidns_leave undoes it. */
int pidns_enter(const struct pidns *ns, struct err *err);
int pidns_leave(struct err *err);
/* Kills whatever is still inside and reaps the init. Idempotent. */
void pidns_stop(struct pidns *ns);

#endif
