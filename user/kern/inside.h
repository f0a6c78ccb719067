/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inside: paths as another process sees them: its mounts, its root, its working directory. For a moment, by the
 * calling process, which has one thread.
 */
#ifndef KERN_INSIDE_H
#define KERN_INSIDE_H

#include <sys/types.h>

#include "base/err.h"

struct inside { /* where we come from */
	int space, root, directory;
};

/* What fails leaves the caller where it was. */
int inside_enter(struct inside *in, pid_t pid, struct err *err);
/* Back. A failure is final: the caller's paths are another's then, and it must end. */
int inside_leave(struct inside *in, struct err *err);

#endif
