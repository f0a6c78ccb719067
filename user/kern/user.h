/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user: passwd and group facts of the user a command runs as.
 *
 * /etc/passwd and /etc/group first; other name services through getent(1), since the programs are
 * linked statically.
 */
#ifndef KERN_USER_H
#define KERN_USER_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

#define USER_GROUPS_MAX 256

struct user {
	char name[64], home[256], shell[128];
	uid_t uid;
	gid_t gid;
	gid_t groups[USER_GROUPS_MAX];
	size_t group_count;
};

/* `name` is a user name or a number; `group` (may be NULL) overrides the primary group. Supplementary
 * groups are the user's own from /etc/group. A number without an entry gets no name and home "/". */
int user_lookup(struct user *u, const char *name, const char *group, struct err *err);

#endif
