/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_control: makes a v2 controller usable below a group, by cgroup.subtree_control.
 *
 * The kernel's rule is that a group other than the root holds processes or controls children, not
 * both. So our own processes may have to go to a leaf first: all of them in a container's root or in
 * a group that sbx made, only ourselves in a delegated group, where others must not be there. Below
 * systemd nothing is changed outside of what it delegated. What was enabled stays enabled.
 */
#ifndef KERN_CGROUP_CONTROL_H
#define KERN_CGROUP_CONTROL_H

#include "kern/cgroup_place.h"

/* `gentle`: only where nobody has to move, without words. ERR_CANNOT_ENFORCE of the kind's capability, naming the
 * rule that stands in the way; our own process is then back where it was. */
int cgroup_control_enable(const struct cgroup_place *place, enum cgroup_kind kind, bool gentle,
			  struct err *err);

#endif
