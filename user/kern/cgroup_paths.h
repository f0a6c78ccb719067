/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_paths: what /proc/PID/cgroup and /proc/PID/mountinfo say of groups. Pure: text in, paths out. */
#ifndef KERN_CGROUP_PATHS_H
#define KERN_CGROUP_PATHS_H

#include <stdint.h>

#define CGROUP_PATH_MAX 1024

/* A group: its directory, and its name as /proc/PID/cgroup shows it. */
struct cgroup_paths {
	char dir[CGROUP_PATH_MAX];
	char name[CGROUP_PATH_MAX];
	char mount[CGROUP_PATH_MAX]; /* where its hierarchy is mounted */
	char root[CGROUP_PATH_MAX];  /* name of the group that is seen there */
};

/* The name of a process's group in the hierarchy of a v1 `controller`, NULL: v2. -ENOENT when there is
 * none, -ENAMETOOLONG. */
int cgroup_paths_name(const char *proc_cgroup, const char *controller, char name[CGROUP_PATH_MAX]);

/* Fills dir, mount and root for out->name, by the first mount of the hierarchy in which it can be
 * seen. -ENOENT when the hierarchy is not mounted, -EXDEV when the group lies outside of what is. */
int cgroup_paths_find(const char *mountinfo, const char *controller, struct cgroup_paths *out);

/* Sets dir from mount, root and name. -EXDEV when name is not at or below root, -ENAMETOOLONG. */
int cgroup_paths_resolve(struct cgroup_paths *paths);

/* Makes `out` the child `leaf` of `parent`. */
int cgroup_paths_child(struct cgroup_paths *out, const struct cgroup_paths *parent,
		       const char *leaf);
/* Makes `paths` its own parent; -ENOENT at the mount's root. */
int cgroup_paths_up(struct cgroup_paths *paths);

/* Last component, "" for the root. Borrowed. */
const char *cgroup_paths_leaf(const struct cgroup_paths *paths);
/* Components of a name: 0 for "/". */
uint32_t cgroup_paths_level(const char *name);

#endif
