/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths: what file wishes mean on this host. Homes and the working directory are filled in, patterns
 * expanded, links resolved, once; nothing is changed.
 */
#ifndef KERN_PATHS_H
#define KERN_PATHS_H

#include "policy/files.h"

#define PATHS_ENTRIES_MAX 131072 /* directory entries that all patterns of a policy may look at */

struct paths_context {
	const char *home;      /* of the user that the command runs as: ~, and %h in profiles */
	const char *directory; /* where it starts: %d in profiles, what relative paths are below */
};

/* Absolute, both. Fills *out with compiled rules; failure leaves it empty.
 *
 * "%d" in a profile's Write= is the working directory as a place to work in: not when that is "/", a home or
 * above one, and then `note` (256 bytes, else "") says how to have it; together with what git needs (worktree.h).
 *
 * A path that is missing is an entry of its parent; where that is missing too, an error or, for an optional
 * wish, FILE_ABSENT. A pattern that finds nothing is an error unless optional. */
int paths_resolve(const struct file_wish *wishes, size_t count, const struct paths_context *context,
		  struct file_policy *out, char note[256], struct err *err);

struct paths_place {
	char *path; /* canonical, or cleaned textually when FILE_ABSENT; the caller frees it */
	enum file_reach reach; /* FILE_OBJECT, FILE_ENTRY, FILE_ABSENT */
	bool directory;
};

/* Where a path as typed (~, relative) leads. */
int paths_locate(const struct paths_context *context, const char *text, struct paths_place *out,
		 struct err *err);

#endif
