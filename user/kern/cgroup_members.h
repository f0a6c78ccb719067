/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_members: who is in a control group, and in those inside it. A list that is old when it is read. */
#ifndef KERN_CGROUP_MEMBERS_H
#define KERN_CGROUP_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct members {
	pid_t *list; /* ascending */
	size_t count, room;
};

/* `directory` of any hierarchy. ERR_NOT_FOUND when it is none of a group; failure leaves *out empty. */
int cgroup_members(const char *directory, struct members *out, struct err *err);
/* In the caller's order, which must ascend. What is not a process here (0) is left out. */
int members_add(struct members *members, pid_t pid);
bool members_have(const struct members *members, pid_t pid);
void members_done(struct members *members);

#endif
