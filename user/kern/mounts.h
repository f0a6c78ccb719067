/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts: the private mount namespace of a run: fresh tmpfs for its working directory and for /tmp,
 * /var/tmp and /dev/shm, one file system for all of them, so that one size bounds them together.
 *
 * mounts_apply runs in the child between clone and exec, as root, and allocates nothing. Everything it
 * makes lives in the namespace and goes with its last process. Never touches the caller's mounts.
 */
#ifndef KERN_MOUNTS_H
#define KERN_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define MOUNTS_KEEP_MAX 64
#define MOUNTS_BINDS_MAX 65
#define MOUNTS_WHAT 120

/* `source`, with what is mounted below it, shown at `target` as well. */
struct mounts_bind {
	const char *source,
		*target; /* target: absolute; it exists, or lies in a covered directory */
	bool read_only;
};

struct mounts_opts {
	const char *workdir; /* existing directory that a fresh tmpfs covers, NULL: none */
	bool private_tmp;    /* cover /tmp, /var/tmp and /dev/shm */
	bool proc;	     /* a new procfs on /proc, for a process in a new pid namespace */
	uint64_t
		bytes; /* bound on all that is written there, inodes included; 0: the kernel's default */
	uint64_t inodes; /* 0: derived from bytes */
	uid_t uid;	 /* owner of workdir (mode 0700) */
	gid_t gid;
	/* Paths below the covered directories that stay visible (the working directory, what was named);
	 * NULL ends the list. Those elsewhere need nothing and are ignored. */
	const char *keep[MOUNTS_KEEP_MAX];
	const struct mounts_bind *binds; /* in this order, after all else */
	size_t bind_count;
};

/* Makes the namespace private and mounts what was asked; the current directory is entered again by
 * its name afterwards. 0, or a negative errno with the step and path in `what`: the child must then exit. */
int mounts_apply(const struct mounts_opts *opts, char what[MOUNTS_WHAT]);

/* Writes what failed; returns the negative errno. */
int mounts_fail(char what[MOUNTS_WHAT], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Whether a project quota bounds what is written below the existing directory `path` to at most
 * `bytes` by itself. `pinned`: the command is refused to change the project of files it owns
 * (FS_IOC_FSSETXATTR, file_setattr(2)) and has no CAP_SYS_RESOURCE; without that no project quota holds.
 * 0, or ERR_CANNOT_ENFORCE of disk_cap with what is missing. */
int mounts_project_quota(const char *path, uint64_t bytes, bool pinned, struct err *err);

#endif
