/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pins: where the kernel half lives in bpffs, and the lock on that place.
 *
 * Each build has a directory of its own, sbx/<abi>/<build>, which appears complete, by rename.
 * The lock is on the directory sbx itself (root's, 0700), so that it goes where the pins go.
 * Holds no BPF object, only names.
 */
#ifndef KERN_PINS_H
#define KERN_PINS_H

#include <stdbool.h>

#include "base/err.h"

#define PINS_PATH 160 /* bpffs, /sbx/, ABI, build */

struct pins {
	int lock_fd;
	bool own_mount;	     /* the bpffs is ours: unload unmounts it */
	char bpffs[112];     /* its mount point */
	char root[120];	     /* <bpffs>/sbx */
	char dir[PINS_PATH]; /* of this build */
};

/* Finds the bpffs (SBX_BPFFS; else SBX_RUN_DIR/bpf; else /sys/fs/bpf; else /run/sbx/bpf),
 * mounts one of our own where there is none, makes <root>, and locks it: shared to reuse,
 * exclusive to load or unload. */
int pins_open(struct pins *p, bool exclusive, struct err *err);
/* Drops a shared lock for an exclusive one; what was seen before must be looked at again. */
int pins_lock_exclusive(struct pins *p, struct err *err);
void pins_close(struct pins *p);

/* Calls fn for the directory of every build, this one included, leftovers of failed loads too. */
int pins_each(const struct pins *p, int (*fn)(void *arg, const char *dir), void *arg);
/* Unpins all in a build's directory and removes it; what is pinned nowhere else is detached by
 * that. */
int pins_remove(const char *dir);
/* Removes the emptied directories and our own mount. For an unload that found nothing left. */
void pins_vanish(struct pins *p);

#endif
