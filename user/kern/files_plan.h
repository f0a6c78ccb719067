/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_plan: which objects and names of a tree's file system a policy needs rows for. Works on
 * paths; opens nothing.
 */
#ifndef KERN_FILES_PLAN_H
#define KERN_FILES_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "policy/files.h"
#include "sbx/files.h"

struct plan_object {
	char *path;
	struct sbx_fs_object row; /* rights, rule and flags; the rest is known once it is open */
	bool named;		  /* by a rule, not by a mount below one */
	bool missing_ok;	  /* an optional rule, or a mount that we may not enter */
};

struct plan_entry {
	const char *path; /* of the rule */
	size_t parent;	  /* index of its directory's object; SIZE_MAX: any */
	struct sbx_fs_entry row;
};

struct files_plan {
	struct plan_object *objects; /* sorted by path, one a path */
	struct plan_entry *entries;
	size_t object_count, entry_count;
	uint32_t flags; /* low byte of the generation */
};

/* `mountinfo` is that of the tree, and is changed. The policy must outlive the plan. */
int files_plan_make(struct files_plan *plan, const struct file_policy *policy, char *mountinfo,
		    struct err *err);
void files_plan_done(struct files_plan *plan);

#endif
