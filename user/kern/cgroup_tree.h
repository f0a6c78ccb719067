/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_tree: removes a group and everything below it, v1 or v2, threaded or not.
 *
 * Walks by descriptor and "..", never above the group it was given and never through a link, and holds
 * one descriptor however deep somebody nested. Kills nothing but what cgroup_tree_kill is told to.
 */
#ifndef KERN_CGROUP_TREE_H
#define KERN_CGROUP_TREE_H

#include <stdint.h>
#include <sys/types.h>

#define CGROUP_TREE_BUDGET_NS 500000000ULL

/* `dir` is a group. Retries until clock_boot_ns() reaches `until_ns` while something in it is dying.
 * 0 also when it is gone already; -EBUSY when processes are still in it then. */
int cgroup_tree_remove(const char *dir, uint64_t until_ns);

/* v2: cgroup.kill. v1, which has no such thing: SIGKILL through a pidfd that is proven to be in the
 * group, to each process in it and below it. 0 or negative errno; 0 when it is gone already,
 * -EXDEV when `dir` is not a group. */
int cgroup_tree_kill(const char *dir);

/* Calls fn for each process in a group and below it; what comes meanwhile may be missed. A negative return ends the walk
 * and is returned. */
int cgroup_tree_each(const char *dir, int (*fn)(void *arg, pid_t pid), void *arg);

#endif
