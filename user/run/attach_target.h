/* SPDX-License-Identifier: Apache-2.0 */
/* attach_target: which process may be adopted. Changes nothing. */
#ifndef RUN_ATTACH_TARGET_H
#define RUN_ATTACH_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* A pidfd of the process, or why it may not be adopted: gone, ended, init, the kernel's, a thread, or one that started
 * any of the `outside` ones, which would then be in the sandbox themselves. */
int attach_target_open(pid_t pid, const pid_t *outside, size_t count, struct err *err);
/* The last of these alone. */
int attach_target_outside(pid_t pid, const pid_t *outside, size_t count, struct err *err);
/* "process PID WHY" */
int attach_target_refuse(pid_t pid, int rc, const char *why, struct err *err);

struct attach_process { /* of /proc/PID/stat */
	char state;
	pid_t parent, session;
	unsigned int flags;
	unsigned long long start;
};
/* -ESRCH when there is none. */
int attach_process(pid_t pid, struct attach_process *out);

#endif
