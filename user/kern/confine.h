/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine: a file policy as mounts and Landlock, applied by the child to itself between clone and
 * exec. Tier B enforces with it; on tier A Landlock is the second wall.
 */
#ifndef KERN_CONFINE_H
#define KERN_CONFINE_H

#include "kern/mounts.h"
#include "policy/files.h"

struct confine_opts {
	const struct file_policy *policy; /* NULL: none */
	bool mounts;			  /* tier B: read-only remounts and masks */
	bool landlock;
};

/* What of the policy this way cannot hold, for the tier's clauses and for refusals. */
struct confine_limits {
	bool future;	  /* entries that do not exist yet are to be denied */
	bool anywhere;	  /* names at any depth */
	bool ungrantable; /* an entry that does not exist yet is to be allowed inside what is not */
	size_t absent_at_start; /* optional rules that found nothing */
	char first[256];	/* the first rule it cannot hold, as written */
};
void confine_judge(const struct file_policy *policy, struct confine_limits *out);

/* In the child, as root, after mounts_apply, before the identity changes. 0, or a negative errno with
 * the step and path in `what`. */
int confine_mounts(const struct confine_opts *opts, char what[MOUNTS_WHAT]);
/* In the child, last before the exec: needs no_new_privs. */
int confine_landlock(const struct confine_opts *opts, char what[MOUNTS_WHAT]);

/* ABI of Landlock here, 0 when there is none. */
int confine_landlock_abi(void);

#endif
