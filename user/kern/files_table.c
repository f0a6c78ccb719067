/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/files_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "kern/files_filter.h"

static uint64_t object_cell(const void *at)
{
	const struct sbx_fs_key *key = at;

	return sbx_fs_object_cell(key->generation, (uint32_t)key->inode);
}

static uint64_t entry_cell(const void *at)
{
	const struct sbx_fs_entry_key *key = at;
	uint64_t word;

	memcpy(&word, key->name, sizeof(word));
	return sbx_fs_entry_cell(key->generation, (uint32_t)key->parent, word,
				 (uint32_t)strnlen(key->name, sizeof(key->name)));
}

const struct files_table_kind files_objects = {
	.pin = HALF_FS_OBJECTS,
	.key_size = sizeof(struct sbx_fs_key),
	.value_size = sizeof(struct sbx_fs_object),
	.max = SBX_MAX_FS_OBJECTS,
	.cell = object_cell,
};
const struct files_table_kind files_entries = {
	.pin = HALF_FS_ENTRIES,
	.key_size = sizeof(struct sbx_fs_entry_key),
	.value_size = sizeof(struct sbx_fs_entry),
	.max = SBX_MAX_FS_ENTRIES,
	.cell = entry_cell,
};

int files_table_make(struct files_table *t, const struct files_table_kind *kind, size_t count)
{
	*t = (struct files_table){
		.kind = kind,
		.keys = calloc(count + 1, kind->key_size),
		.values = calloc(count + 1, kind->value_size),
		.count = count,
	};
	if (t->keys && t->values)
		return 0;
	files_table_done(t);
	return -ENOMEM;
}

void files_table_done(struct files_table *t)
{
	free(t->keys);
	free(t->values);
	*t = (struct files_table){ 0 };
}

static const char *key_at(const struct files_table *t, size_t i)
{
	return (const char *)t->keys + i * t->kind->key_size;
}

/* Of several that delete a row one is told that it has. */
static void delete_row(const struct files_table_kind *kind, int fd, const void *key,
		       struct sbx_fs_filter *filter)
{
	if (!bpf_map_delete_elem(fd, key))
		files_filter_remove(filter, kind->cell(key));
}

/* ---- what dead keepers left ----------------------------------------------------------------- */

static int all_keys(struct files_table *out, const struct files_table_kind *kind, int fd)
{
	char key[sizeof(struct sbx_fs_entry_key)], *at = NULL;
	int rc = files_table_make(out, kind, kind->max);

	out->count = 0;
	while (!rc && out->count < kind->max && !bpf_map_get_next_key(fd, at, key)) {
		memcpy((char *)out->keys + out->count++ * kind->key_size, key, kind->key_size);
		at = key;
	}
	return rc;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Sorted; negative errno. */
static ssize_t live_generations(struct kern *k, uint64_t *live)
{
	size_t count = SBX_MAX_SANDBOXES;
	own_mem uint64_t *ids = calloc(count, sizeof(*ids));
	struct sbx_sandbox row;
	ssize_t n = 0;

	if (!ids)
		return -ENOMEM;
	kern_sandbox_list(k, ids, &count);
	for (size_t i = 0; i < count; i++) {
		if (kern_sandbox_read(k, ids[i], &row))
			continue;
		live[n++] = row.files_generation;
		live[n++] = row.files_next;
	}
	qsort(live, (size_t)n, sizeof(*live), by_number);
	return n;
}

/* The keys are read before the sandboxes: whoever has rows by then has claimed them. */
void files_table_sweep(const struct files_table_kind *kind, struct kern *k,
		       struct sbx_fs_filter *filter)
{
	own_mem uint64_t *live = calloc(2 * SBX_MAX_SANDBOXES, sizeof(*live));
	int fd = half_fd(k, kind->pin);
	struct files_table all = { 0 };
	uint64_t generation;
	ssize_t count;

	if (fd < 0 || !live || all_keys(&all, kind, fd))
		return;
	count = live_generations(k, live);
	for (size_t i = 0; count >= 0 && i < all.count; i++) {
		memcpy(&generation, key_at(&all, i), sizeof(generation));
		if (!bsearch(&generation, live, (size_t)count, sizeof(*live), by_number))
			delete_row(kind, fd, key_at(&all, i), filter);
	}
	files_table_done(&all);
}

/* ---- the rows of one policy ------------------------------------------------------------------ */

/* From row `*done` on, which it moves. */
static int insert_from(const struct files_table *t, int fd, size_t *done)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts, .elem_flags = BPF_ANY);
	size_t left = t->count - *done;
	__u32 n = (__u32)left;
	int rc = 0;

	if (n && bpf_map_update_batch(fd, key_at(t, *done),
				      (char *)t->values + *done * t->kind->value_size, &n, &opts))
		rc = errno == E2BIG ? -ENOSPC : -errno;
	*done += rc && n >= left ? 0 : n;
	return rc;
}

int files_table_insert(struct files_table *t, struct kern *k, struct sbx_fs_filter *filter)
{
	int fd = half_fd(k, t->kind->pin), rc = fd < 0 ? fd : 0;
	size_t done = 0;

	for (size_t i = 0; i < t->count; i++)
		files_filter_add(filter, t->kind->cell(key_at(t, i)));
	if (!rc)
		rc = insert_from(t, fd, &done);
	if (rc == -ENOSPC) {
		files_table_sweep(t->kind, k, filter);
		rc = insert_from(t, fd, &done);
	}
	for (size_t i = done; i < t->count; i++)
		files_filter_remove(filter, t->kind->cell(key_at(t, i)));
	t->count = done;
	return rc;
}

void files_table_delete(const struct files_table *t, struct kern *k, struct sbx_fs_filter *filter)
{
	int fd = t->count ? half_fd(k, t->kind->pin) : -1;

	for (size_t i = 0; fd >= 0 && i < t->count; i++)
		delete_row(t->kind, fd, key_at(t, i), filter);
}
