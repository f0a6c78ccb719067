/* SPDX-License-Identifier: Apache-2.0 */
/*
 * background: the two halves of a run whose keeper outlives the command the user typed.
 *
 * -d: the front prints the ID once the run has started and exits. --leftovers keep: the front waits for
 * the root, passes signals on, and exits with its status while the keeper stays with what is left.
 */
#ifndef SBXCTL_BACKGROUND_H
#define SBXCTL_BACKGROUND_H

#include <stdbool.h>

#include "base/err.h"

struct background {
	int fd; /* keeper's end of the pipe to the front, -1: there is no front (any more) */
	bool detach;
};
#define BACKGROUND_NONE  \
	{                \
		.fd = -1 \
	}

/* Forks. 0 in the keeper; 1 in the front, which is done by then: *status is its exit status. */
int background_fork(struct background *b, bool detach, int *status, struct err *err);
void background_started(struct background *b, const char *id);
/* The root's wait status; the keeper lets go of the caller's descriptors. */
void background_tell(struct background *b, int wait_status);
/* Ended, or never started: the front exits with this status, if it still waits. */
void background_ended(struct background *b, int exit_status);

#endif
