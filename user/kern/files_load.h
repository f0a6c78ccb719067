/* SPDX-License-Identifier: Apache-2.0 */
/* files_load: the file hooks, a part that comes with the first file policy. */
#ifndef KERN_FILES_LOAD_H
#define KERN_FILES_LOAD_H

#include "kern/half.h"

/* Maps and programs of hooks that are attached but not pinned yet. */
struct files_hooks {
	int create_fd, control_fd, objects_fd, filter_fd, inodes_fd;
};
/* Whether a descriptor that a rule denies is refused to a child and another one is not. */
bool files_try(const struct files_hooks *h, char detail[SBX_DETAIL]);

#endif
