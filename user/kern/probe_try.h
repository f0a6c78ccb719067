/* SPDX-License-Identifier: Apache-2.0 */
/* probe_try: one act in a child of its own, bounded in time, always reaped. */
#ifndef KERN_PROBE_TRY_H
#define KERN_PROBE_TRY_H

#include <sys/types.h>

#include "kern/cgroup.h"
#include "kern/probe.h"

struct probe_child {
	pid_t pid;
	int pidfd;
};

/* Starts act(arg) in a child; its return value is the exit status. `cg` (NULL: none) has it from its first
 * instruction on. The child is not dumpable and dies with us. */
int probe_start(struct probe_child *c, struct cgroup *cg, int (*act)(void *arg), void *arg);
/* Exit status; 128 + signal; -ETIMEDOUT after killing it. */
int probe_wait(struct probe_child *c, int timeout_ms);
/* Both; -errno when it could not be started. */
int probe_try(struct cgroup *cg, int (*act)(void *arg), void *arg);

void probe_say(struct probe_row *row, const char *mechanism, const char *detail_fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
