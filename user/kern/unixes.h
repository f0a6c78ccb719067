/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unixes: sockets of other processes that have a path (docker, D-Bus, systemd, ssh-agent, tmux, X11, nscd), as
 * they are at the start. They are the simplest way out of a tree, and a network namespace does not hide
 * them. Each is covered by /dev/null in the tree's own mounts: who connects is told that nobody listens.
 *
 * What is bound later by others is not covered, nor what others put in the place of a covered one.
 */
#ifndef KERN_UNIXES_H
#define KERN_UNIXES_H

#include <stddef.h>

#include "base/err.h"
#include "kern/mounts.h"

#define UNIXES_MAX 8192 /* on one host; more are refused, not left open */

struct unixes {
	char **paths; /* owned, sorted, absolute */
	size_t count;
};

/* All sockets with a path that this host has, but those at a path of `kept`, by whatever name they are
 * reached. 0 or a negative errno; `out` is valid either way. */
int unixes_find(struct unixes *out, char *const *kept, size_t kept_count, struct err *err);
void unixes_done(struct unixes *unixes);

/* In the child, in mounts of its own, as root. What is not there any more, or out of sight by now, needs
 * no cover. 0, or a negative errno with the step in `what`. */
int unixes_cover(const struct unixes *unixes, char what[MOUNTS_WHAT]);

#endif
