/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_rows: the rows of one generation of a file policy, as they lie in the kernel half.
 */
#ifndef KERN_FILES_ROWS_H
#define KERN_FILES_ROWS_H

#include "kern/files_plan.h"
#include "kern/files_table.h"
#include "kern/kern.h"

struct files_rows {
	uint64_t generation;
	struct files_table objects, entries;
	struct sbx_fs_filter *filter; /* NULL until the rows are inserted */
};

/* `pins`: a descriptor for each object of the plan, negative where there is none. Inserts nothing. */
int files_rows_make(struct files_rows *rows, struct kern *k, const struct files_plan *plan,
		    const int *pins, uint64_t generation);
void files_rows_done(struct files_rows *rows);

/* -ENOSPC when a map is full, even after the rows of sandboxes that are gone were removed. What was
 * inserted is the caller's to delete. */
int files_rows_insert(struct files_rows *rows, struct kern *k);
void files_rows_delete(const struct files_rows *rows, struct kern *k);

/* What the kernel calls the inodes behind our own descriptors: out[i] for fds[i], inode 0 where there is
 * none. `prog_fd` is fs_inodes. */
int files_inodes(int prog_fd, const int *fds, size_t count, struct sbx_fs_inode *out);

#endif
