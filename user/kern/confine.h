/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine: a file policy as mounts and Landlock, applied by the child to itself between clone and
 * exec. Tier B enforces with it; on tier A Landlock is the second wall.
 *
 * Mounts take rights away: what is read-only or not executable is a mount that says so, what is denied
 * is covered by an empty object that nobody may open. Landlock grants what the policy allows, keeps
 * the tree from mounting anything, and from reaching through the processes of others. Files that the
 * policy leaves read-only are never written; device nodes and /proc stay usable, since what is written
 * there is no file.
 *
 * None of it allocates from the heap, and all of it goes with the tree.
 */
#ifndef KERN_CONFINE_H
#define KERN_CONFINE_H

#include "kern/mounts.h"
#include "policy/files.h"

struct confine_opts {
	const struct file_policy *policy; /* compiled */
	bool mounts;			  /* tier B: read-only remounts and masks */
	bool landlock;
	uid_t uid; /* whom the command runs as: root may write host settings without capabilities */
};

/* What of the policy mounts and Landlock cannot hold, for the tier's clauses and for refusals. */
struct confine_limits {
	bool future;	  /* entries that do not exist yet are to be denied */
	bool anywhere;	  /* names at any depth */
	bool ungrantable; /* an entry that does not exist yet is to be allowed inside what is not */
	size_t absent_at_start; /* optional rules that found nothing */
	char first[256];	/* the first rule it cannot hold, as written */
};
void confine_judge(const struct file_policy *policy, struct confine_limits *out);

/* ABI of Landlock here, 0 when there is none. */
int confine_landlock_abi(void);

/*
 * In the child, as root, after mounts_apply and in the directory the command starts in, in this
 * order. Each returns a negative errno with the step and path in `what` when it fails; the child must
 * then exit.
 */

/* The Landlock ruleset of the policy, a descriptor. */
int confine_ruleset(const struct confine_opts *opts, char what[MOUNTS_WHAT]);
/* Covers and remounts, looks that each mount is there, enters the directory again. */
int confine_mounts(const struct confine_opts *opts, char what[MOUNTS_WHAT]);
/* Last before the exec: needs no_new_privs. */
int confine_restrict(int ruleset, char what[MOUNTS_WHAT]);

#endif
