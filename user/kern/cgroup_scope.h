/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_scope: one transient systemd scope a run, so that daemon-reload and set-property keep its
 * limits and no delegated group of a daemon is in the way of its restart.
 *
 * systemd makes a scope only around a process, and we need the group before the run's first one: a
 * placeholder child holds it until then. It dies with us. Removing the group is systemd's business.
 */
#ifndef KERN_CGROUP_SCOPE_H
#define KERN_CGROUP_SCOPE_H

#include "kern/cgroup.h"
#include "kern/cgroup_place.h"

struct cgroup_scope {
	char unit[160];
	pid_t placeholder; /* 0: none */
	int hold_fd;	   /* the placeholder lives until it is closed */
};
#define CGROUP_SCOPE_NONE     \
	{                     \
		.hold_fd = -1 \
	}

/* Starts unit NAME.scope in the caller's slice and fills `group`. `limits` are lowered to those of the
 * groups between ours and that slice, which no longer enclose what is beside them. */
int cgroup_scope_start(struct cgroup_scope *scope, const char *name,
		       const struct cgroup_place *place, struct cgroup_limits *limits,
		       struct cgroup_paths *group, struct err *err);
/* The run's child is inside: the placeholder goes. Idempotent. */
void cgroup_scope_settle(struct cgroup_scope *scope);
/* Sets what is asked as properties of the running unit. */
int cgroup_scope_update(const struct cgroup_scope *scope, const struct cgroup_limits *limits,
			struct err *err);
/* Tells systemd that the unit is over and waits until its group is gone, -EBUSY at `until_ns`. */
int cgroup_scope_stop(const char *unit, const char *dir, uint64_t until_ns, struct err *err);

/* Pure: the innermost slice of a group's name that the system manager knows, "system.slice" when none. */
void cgroup_scope_slice(const char *name, char slice[CGROUP_PATH_MAX]);

#endif
