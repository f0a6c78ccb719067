/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process: what /proc says of the one process that was asked for. Its arguments only to its user and to root.
 */
#ifndef SBXTOP_PROCESS_H
#define SBXTOP_PROCESS_H

#include "kern/view.h"

struct process_facts { /* "": may not be read, or it is gone */
	char arguments[2048], directory[512], executable[512], user[64];
};
/* Of `v` only: of another process that has its number by now nothing is told. */
void process_read(const struct view_process *v, struct process_facts *out);

#endif
