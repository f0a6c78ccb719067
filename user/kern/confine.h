/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine: a file policy as mounts and Landlock, applied by the child to itself between clone and
 * exec. Tier B enforces with it; on tier A a Landlock domain that decides on no file keeps the tree from
 * mounting.
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

#define CONFINE_FROZEN_MAX 64	/* directories … */
#define CONFINE_ENTRIES_MAX 512 /* … and entries in them all */

struct confine_dir {
	const char *path; /* its first `len` bytes */
	size_t len;
};

struct confine_opts {
	const struct file_policy *policy; /* compiled */
	bool mounts; /* tier B: read-only remounts and masks; else Landlock decides on
					   * no file */
	bool landlock;
	bool scoped;	  /* no abstract unix sockets of others: needs CONFINE_ABI_SCOPED */
	bool signals;	  /* none to others: likewise */
	bool private_tmp; /* as in mounts_opts: what was below the temporary directories may be out of
			   * sight, and needs no rule then */
	int foreign;	  /* idmap_foreign(): masks hold root with all capabilities, too; 0: none */
	uid_t uid; /* whom the command runs as: root may write host settings without capabilities */
	struct confine_dir frozen[CONFINE_FROZEN_MAX]; /* of confine_freeze */
	size_t frozen_count;
};

/* What of the policy mounts and Landlock cannot hold, for the tier's clauses and for refusals. */
struct confine_limits {
	bool future;	  /* entries that do not exist yet are to be denied */
	bool anywhere;	  /* names at any depth */
	bool ungrantable; /* an entry that does not exist yet is to be allowed inside what is not */
	size_t absent_at_start; /* optional rules that found nothing */
	char first[256];	/* the first rule it cannot hold, as written */
	size_t replaceable; /* denied objects that are readable again once another process has put
			     * another object in their place: neither unreadable to the command
			     * anyway, nor in a frozen directory. All, until confine_freeze */
	char first_replaceable[256];
};
void confine_judge(const struct file_policy *policy, struct confine_limits *out);

struct confine_who {
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t group_count;
};
/*
 * A mask covers an object, not a name. Where the way to a denied object is read-only for the tree, its
 * directories can be frozen: Landlock then grants their entries one by one, so that what is put there
 * later, by whomever, is not readable, the object in place of a denied one included. The price is that
 * nothing else that appears in them later is readable either, and some microseconds an entry. Fills
 * opts->frozen (it points into the policy) and counts in `limits` what that does not close. Before the
 * clone, in the keeper's mounts.
 */
void confine_freeze(struct confine_opts *opts, const struct confine_who *who,
		    struct confine_limits *limits);

#define CONFINE_ABI_SCOPED 6 /* of Landlock */

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
