/* SPDX-License-Identifier: Apache-2.0 */
/* attempt: one act in a child of its own, bounded in time, always reaped. */
#ifndef KERN_ATTEMPT_H
#define KERN_ATTEMPT_H

#include <sys/types.h>

#include "kern/cgroup.h"

#define ATTEMPT_MS 3000 /* the time one act has */

struct attempt {
	pid_t pid;
	int pidfd;
};

/* Starts act(arg) in a child; its return value is the exit status. `cg` (NULL: none) has it from its first
 * instruction on. The child is not dumpable and dies with us. */
int attempt_start(struct attempt *c, struct cgroup *cg, int (*act)(void *arg), void *arg);
/* Exit status; 128 + signal; -ETIMEDOUT after killing it. */
int attempt_wait(struct attempt *c, int timeout_ms);
/* Both; -errno when it could not be started. */
int attempt(struct cgroup *cg, int (*act)(void *arg), void *arg);

#endif
