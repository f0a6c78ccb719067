/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_find: a run's v2 group by its name alone, for a keeper that died before it could record the
 * path. Walks the whole hierarchy, so never on the way of a start. Changes nothing.
 */
#ifndef KERN_CGROUP_FIND_H
#define KERN_CGROUP_FIND_H

#include <stddef.h>
#include <stdint.h>

#define CGROUP_FIND_DEPTH 24
#define CGROUP_FIND_GROUPS 65536 /* looked at, at most */

/* 0, its absolute path and its id; -ENOENT. */
int cgroup_find(const char *name, char *path, size_t size, uint64_t *id);

#endif
