/* SPDX-License-Identifier: Apache-2.0 */
/* attach_group: a tree whose members have no common parent: a control group with those inside it, or a session. */
#ifndef RUN_ATTACH_GROUP_H
#define RUN_ATTACH_GROUP_H

#include "kern/kern.h"

struct run;

/* The process of a control group that started first: -ESRCH when there is none. */
int attach_group_first(const char *cgroup, pid_t *pid, struct err *err);
/* After the root was adopted: whoever else is in the group or session that the spec names, with all descendants. */
int attach_group_adopt(struct run *run, struct kern_adopted *sum, struct err *err);

#endif
