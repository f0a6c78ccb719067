/* SPDX-License-Identifier: Apache-2.0 */
/* tree: the process tree of a result as people read it. */
#ifndef SBXCTL_TREE_H
#define SBXCTL_TREE_H

#include <stdio.h>

#include "run/result.h"

/* One line a process: indentation by parent, comm, pid, how it ended. */
void tree_print(FILE *out, const struct result *result, bool color);

#endif
