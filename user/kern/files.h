/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files: a file policy in the kernel half (tier A): rules by inode pointer, entries by parent and
 * name, published by one store of a generation, pinned by descriptors held here.
 */
#ifndef KERN_FILES_H
#define KERN_FILES_H

#include "kern/kern.h"
#include "policy/files.h"

struct files;

struct files_opts {
	uint64_t sandbox;
	pid_t pid;  /* of the tree: its root directory and mounts are the ones meant */
	bool audit; /* log, do not refuse */
};

/* Whether the hooks that enforce file policies attach and refuse here: loads and tries them at the first
 * call on this half. Else `why`, which lives as long as `k`. */
bool files_available(struct kern *k, const char **why);

/* Resolves every rule in the tree's own mount namespace, fills a fresh generation, stores it in the
 * sandbox's row. Once before the tree runs its first instruction of its own, and again whenever the
 * policy is to be resolved anew: the old generation goes after the new one is in force. ERR_BUSY /
 * -ENOSPC when the kernel half has no room; nothing is left behind on failure. */
int files_publish(struct files **files, struct kern *k, const struct file_policy *policy,
		  const struct files_opts *opts, struct err *err);
/* Where the file system `dev` (as the kernel numbers it) is mounted below what rule `rule` names; NULL when it is
 * not below it, but holds it. */
const char *files_place(const struct files *files, uint32_t rule, uint32_t dev);
/* Another process holds the objects as well, so that the death of the one that published leaves the policy
 * in force: it inherits these descriptors, and says so itself. */
const int *files_pins(const struct files *files, size_t *count);
int files_hold(const struct files *files, struct kern *k);
/* Takes the rows back; the sandbox must be gone. NULL is fine. */
void files_release(struct files *files, struct kern *k);
/* Takes back the rows of sandboxes that are gone, whose keepers died before they could. */
void files_sweep(struct kern *k);

#endif
