/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watcher: a tiny process apart from the keeper, for kernels whose exit hook cannot send signals, and for deadlines.
 *
 * It waits for the keeper's (and owner's) death through pidfds, then sets dying and kills the tree
 * until live is 0. Not in the sandbox's cgroup, own session, no descriptor but
 * those it needs, PR_SET_DUMPABLE 0. It also holds a second timer, for a keeper that is stopped when the deadline comes,
 * and the objects of the file policy, which a dead keeper no longer does.
 */
#ifndef KERN_WATCHER_H
#define KERN_WATCHER_H

#include "kern/files.h"

struct watcher {
	pid_t pid;
	int pidfd;
	int control_fd; /* its end without a word means that the keeper is dead */
};

struct watcher_opts {
	uint64_t id;
	const char *cgroup;	   /* directory of the v2 group, NULL: none */
	int owner_fd;		   /* -1: none */
	short owner_events;	   /* of it, that mean its end */
	int timer_fd;		   /* readable: the keeper did not keep the deadline; -1: none */
	const struct files *files; /* whose objects it holds as well; NULL: none */
	bool outlives; /* the keeper's death kills nothing: owner and timer are watched on until the tree is gone */
};
/* After the root was cloned: before, the watcher would take the seed and be the root itself
 * (-EPROTO). */
int watcher_start(struct watcher *w, struct kern *k, const struct watcher_opts *opts,
		  struct err *err);
/* Ends it without a kill and reaps it. Idempotent. */
void watcher_stop(struct watcher *w);

#endif
