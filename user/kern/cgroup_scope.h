/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_scope: one transient systemd scope a run, so that daemon-reload and set-property keep its
 * limits and no delegated group of a daemon is in the way of its restart.
 *
 * systemd makes a scope only around a process, and removes it with its last one, together with what
 * was measured. So a placeholder child of ours lives in it, in a group beside the run's, until the
 * run is over; it dies with us. Limits are exact in the run's group, which is delegated to us, and
 * properties of the unit that are wider by what the placeholder needs. Removing the scope is
 * systemd's business.
 */
#ifndef KERN_CGROUP_SCOPE_H
#define KERN_CGROUP_SCOPE_H

#include "kern/cgroup.h"
#include "kern/cgroup_place.h"

#define CGROUP_SCOPE_SUFFIX ".scope"

struct cgroup_scope {
	char unit[160];
	char dir[CGROUP_PATH_MAX];
	pid_t placeholder;
	int pidfd;   /* of the placeholder, -1: none */
	int hold_fd; /* the placeholder lives until it is closed */
};

/* Starts unit NAME.scope in the caller's slice and makes it the base of `place`. `limits` are lowered to those of
 * the groups between ours and that slice, which do not enclose what is beside them. */
int cgroup_scope_start(struct cgroup_scope *scope, const char *name, struct cgroup_place *place,
		       struct cgroup_limits *limits, struct err *err);
/* Sets what is asked as properties of the running unit. */
int cgroup_scope_update(const struct cgroup_scope *scope, const struct cgroup_limits *limits,
			struct err *err);
/* Ends the placeholder. Idempotent. */
void cgroup_scope_release(struct cgroup_scope *scope);
/* Waits until systemd has removed the empty scope, and tells it to if it does not by itself. 0 also when
 * it is gone already, -EBUSY at `until_ns`. */
int cgroup_scope_gone(const char *dir, uint64_t until_ns, struct err *err);

/* Pure: the innermost slice of a group's name that the system manager knows, "system.slice" when none. */
void cgroup_scope_slice(const char *name, char slice[CGROUP_PATH_MAX]);

#endif
