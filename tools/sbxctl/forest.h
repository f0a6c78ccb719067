/* SPDX-License-Identifier: Apache-2.0 */
/* forest: live processes of one run in the order of their tree: each parent before its children, elder first. */
#ifndef SBXCTL_FOREST_H
#define SBXCTL_FOREST_H

#include "kern/view.h"

#define FOREST_DEPTH_MAX 200 /* deeper ones are shown at this depth */

struct forest_node {
	uint32_t process; /* index in the list */
	uint32_t depth;	  /* 0: its parent is not in the list */
};

/* `list` by start; `out` has room for `count`, and every process is in it once, whatever the parents say. */
int forest_order(const struct view_process *list, size_t count, struct forest_node *out);

#endif
