/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_table: rows of one kind of a file policy, in memory and in the map of the kernel half. Each is
 * counted in the filter from before it is inserted until after it is deleted.
 */
#ifndef KERN_FILES_TABLE_H
#define KERN_FILES_TABLE_H

#include <stddef.h>

#include "kern/half.h"
#include "sbx/files.h"

struct files_table_kind {
	enum half_pin pin;
	size_t key_size, value_size, max;
	uint64_t (*cell)(const void *key);
};
extern const struct files_table_kind files_objects, files_entries;

struct files_table {
	const struct files_table_kind *kind;
	void *keys, *values; /* a key begins with its generation */
	size_t count;
};

/* Zeroed rows. */
int files_table_make(struct files_table *t, const struct files_table_kind *kind, size_t count);
void files_table_done(struct files_table *t);

/* -ENOSPC when the map is full, even after what dead keepers left was swept. After a failure the table
 * is what has been inserted nevertheless. */
int files_table_insert(struct files_table *t, struct kern *k, struct sbx_fs_filter *filter);
void files_table_delete(const struct files_table *t, struct kern *k, struct sbx_fs_filter *filter);

/* Deletes the rows whose generation no sandbox claims. */
void files_table_sweep(const struct files_table_kind *kind, struct kern *k,
		       struct sbx_fs_filter *filter);

#endif
