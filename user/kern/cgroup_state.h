/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_state: what the groups of one run are. Shared by cgroup.c and its parts, by nobody else. */
#ifndef KERN_CGROUP_STATE_H
#define KERN_CGROUP_STATE_H

#include "kern/cgroup.h"
#include "kern/cgroup_paths.h"
#include "kern/cgroup_place.h"
#include "kern/cgroup_scope.h"

struct cgroup_v1 {
	struct cgroup_paths paths;
	int fd;	      /* -1: no group, the controller is v2's or was not asked */
	int tasks_fd; /* for a task that moves itself */
};

struct cgroup {
	enum cgroup_driver driver;
	struct cgroup_paths v2;
	int fd;
	uint64_t id;
	uint32_t level;
	struct cgroup_v1 v1[CGROUP_KINDS];
	struct cgroup_scope scope;
	struct cgroup_limits limits; /* as they were written */
	int oom_fd;		     /* eventfd (v1) or memory.events (v2) */
	bool oom;
};

/* The directory with the limit files of a kind. */
int cgroup_kind_fd(const struct cgroup *cg, enum cgroup_kind kind, bool *v1);
/* Reads every asked limit back: ERR_CANNOT_ENFORCE where it is not what was written. */
int cgroup_verify_limits(const struct cgroup *cg, struct err *err);
/* Opens oom_fd for the memory group. */
int cgroup_watch_oom(struct cgroup *cg);
/* Names of extended attributes of the v2 group that record its v1 groups for the sweep. */
const char *cgroup_kind_mark(enum cgroup_kind kind);
/* The v1 group of a kind that the v2 group `path` has on record; false: none. */
bool cgroup_sweep_recorded(const char *path, enum cgroup_kind kind, char out[CGROUP_PATH_MAX]);

#endif
