/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_load: the hook that notes what system calls are refused. Loaded and pinned, but not attached,
 * when the first sandbox asks for it; it stays as long as the half.
 */
#ifndef KERN_REPORT_LOAD_H
#define KERN_REPORT_LOAD_H

#include "kern/half.h"

struct report_half {
	int prog_fd;  /* report_sys_exit */
	int links_fd; /* report_links */
};

/* Loads or reuses; the caller holds the exclusive lock on the pins, and owns both descriptors, -1 when it
 * failed. */
int report_load(struct kern *k, struct report_half *half);

#endif
