/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine_plan: which mounts a file policy needs, outer ones first. Touches nothing.
 *
 * A mount is needed where rights change: a clone of the tree with other flags, or a mask where reading
 * ends. A directory that can be written and has such a mount somewhere below is made a mount as well
 * (a pin): renamed, it would carry the mount away, and the old name could be made anew without it.
 */
#ifndef KERN_CONFINE_PLAN_H
#define KERN_CONFINE_PLAN_H

#include <stdint.h>
#include <sys/types.h>

#include "kern/confine.h"

#define CONFINE_MOUNTS_MAX 8192

struct confine_node {
	const char *path; /* its first `len` bytes: a rule's, or of a directory above one */
	size_t len;
	unsigned int rights; /* enum file_right that the mount leaves */
	int above;	     /* nearest node on the way up, -1: "/" */
	bool mask;
	bool way;      /* a mask, with nodes below it that stay reachable */
	bool optional; /* fine when it is gone by now */
	/* what confine_mounts found and made */
	bool seen, directory;
	bool skipped; /* gone, or holds without a mount */
	dev_t dev;
	ino_t ino;
	uint64_t mount_id;
	int tree; /* detached clone */
};

struct confine_plan {
	struct confine_node *nodes; /* CONFINE_MOUNTS_MAX of the caller's; the first is /proc */
	size_t count;
	unsigned int root; /* rights on "/", which is no node */
};

/* -E2BIG when the policy needs more mounts than there is room for. */
int confine_plan(struct confine_plan *plan, const struct confine_opts *opts);

/* Whether the object of a rule may be gone by now. */
bool confine_plan_optional(const struct confine_opts *opts, const struct file_rule *rule);

/* Whether rule number `index` denies what would be readable without it. */
bool confine_plan_masked(const struct file_policy *policy, size_t index);

/* The innermost rule about an existing object at or above a canonical path; NULL: none. */
const struct file_rule *confine_plan_rule(const struct file_policy *policy, const char *path,
					  size_t len);

#endif
