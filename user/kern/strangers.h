/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strangers: processes that somebody put into a run's group and that are not of its tree.
 *
 * cgroup.kill takes whoever is there; who dies with a run is decided by its rows. So before the group is killed, and
 * before it is removed, whoever is in it without a row goes to our own group. So in the run's v1 groups.
 */
#ifndef KERN_STRANGERS_H
#define KERN_STRANGERS_H

#include "kern/kern.h"

/* `group` is the v2 directory of sandbox `id`. Number of strangers that are still in it, because they could not be
 * moved: then it must not be killed as a whole; or a negative errno. */
int strangers_evict(struct kern *k, uint64_t id, const char *group);

#endif
