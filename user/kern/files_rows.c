/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/files_rows.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/half.h"
#include "sbx/denial.h"

/* ---- inodes --------------------------------------------------------------------------------- */

struct by_fd {
	struct sbx_fs_inode *list; /* at its descriptor's number */
	size_t count;
};

static void note(struct by_fd *table, const struct sbx_fs_inode *at)
{
	if (at->fd < table->count)
		table->list[at->fd] = *at;
}

static int read_inodes(int fd, struct by_fd *table)
{
	struct sbx_fs_inode buf[160];
	size_t have = 0, whole;
	ssize_t n;

	while ((n = read(fd, (char *)buf + have, sizeof(buf) - have)) != 0) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		have += (size_t)n;
		whole = have / sizeof(buf[0]);
		for (size_t i = 0; i < whole; i++)
			note(table, &buf[i]);
		have -= whole * sizeof(buf[0]);
		memmove(buf, &buf[whole], have);
	}
	return 0;
}

int files_inodes(int prog_fd, const int *fds, size_t count, struct sbx_fs_inode *out)
{
	own_fd self = (int)syscall(SYS_pidfd_open, getpid(), 0), iter = -1;
	own_mem struct sbx_fs_inode *list = NULL;
	struct by_fd table = { 0 };
	int rc;

	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0 && (size_t)fds[i] >= table.count)
			table.count = (size_t)fds[i] + 1;
	list = table.list = calloc(table.count ? table.count : 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	iter = self < 0 ? -errno : half_iter(prog_fd, self);
	rc = iter < 0 ? iter : read_inodes(iter, &table);
	for (size_t i = 0; i < count && !rc; i++)
		out[i] = fds[i] >= 0 ? list[fds[i]] : (struct sbx_fs_inode){ 0 };
	return rc;
}

/* ---- rows ----------------------------------------------------------------------------------- */

struct found {
	struct sbx_fs_object row;
	uint64_t inode;
	bool named;
};

static int by_inode(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

/* One object under several paths: a rule that names it wins over what holds where it is mounted; of
 * equals the object has the rights that all of them give. */
static void merge(struct found *to, const struct found *from)
{
	uint32_t flags = to->row.flags | from->row.flags;

	if (from->row.flags & SBX_FS_RULE) {
		if (!(to->row.flags & SBX_FS_RULE) || from->named > to->named) {
			to->row = from->row;
			to->named = from->named;
		} else if (from->named == to->named && to->row.rights & ~from->row.rights) {
			to->row.rights &= from->row.rights;
			to->row.rule = from->row.rule;
		}
	}
	to->row.flags = flags;
}

static size_t find(const struct files_plan *plan, const struct sbx_fs_inode *at, struct found *list)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < plan->object_count; i++) {
		if (!at[i].inode)
			continue;
		list[n] = (struct found){ .row = plan->objects[i].row,
					  .inode = at[i].inode,
					  .named = plan->objects[i].named };
		list[n].row.ino = at[i].ino;
		list[n++].row.dev = at[i].dev;
	}
	qsort(list, n, sizeof(*list), by_inode);
	for (size_t i = 0; i < n; i++) {
		if (kept && list[kept - 1].inode == list[i].inode)
			merge(&list[kept - 1], &list[i]);
		else
			list[kept++] = list[i];
	}
	return kept;
}

static int make_objects(struct files_rows *rows, const struct found *list, size_t count)
{
	rows->object_keys = calloc(count, sizeof(*rows->object_keys));
	rows->objects = calloc(count, sizeof(*rows->objects));
	if (!rows->object_keys || !rows->objects)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		rows->object_keys[i] = (struct sbx_fs_key){ rows->generation, list[i].inode };
		rows->objects[i] = list[i].row;
	}
	rows->object_count = count;
	return 0;
}

static int make_entries(struct files_rows *rows, const struct files_plan *plan,
			const struct sbx_fs_inode *at)
{
	rows->entry_keys = calloc(plan->entry_count + 1, sizeof(*rows->entry_keys));
	rows->entries = calloc(plan->entry_count + 1, sizeof(*rows->entries));
	if (!rows->entry_keys || !rows->entries)
		return -ENOMEM;
	for (size_t i = 0; i < plan->entry_count; i++) {
		const struct plan_entry *e = &plan->entries[i];
		const char *slash = strrchr(e->path, '/');
		struct sbx_fs_entry_key *key = &rows->entry_keys[rows->entry_count];

		if (e->parent != SIZE_MAX && !at[e->parent].inode)
			continue;
		key->generation = rows->generation;
		key->parent = e->parent == SIZE_MAX ? 0 : at[e->parent].inode;
		strncpy(key->name, slash ? slash + 1 : e->path, sizeof(key->name) - 1);
		rows->entries[rows->entry_count++] = e->row;
	}
	return 0;
}

int files_rows_make(struct files_rows *rows, struct kern *k, const struct files_plan *plan,
		    const int *pins, uint64_t generation)
{
	own_mem struct sbx_fs_inode *at = calloc(plan->object_count, sizeof(*at));
	own_mem struct found *list = calloc(plan->object_count, sizeof(*list));
	int prog = half_fd(k, HALF_FS_INODES), rc;

	*rows = (struct files_rows){ .generation = generation };
	if (!at || !list)
		return -ENOMEM;
	rc = prog < 0 ? prog : files_inodes(prog, pins, plan->object_count, at);
	if (!rc)
		rc = make_objects(rows, list, find(plan, at, list));
	return rc ? rc : make_entries(rows, plan, at);
}

void files_rows_done(struct files_rows *rows)
{
	free(rows->object_keys);
	free(rows->objects);
	free(rows->entry_keys);
	free(rows->entries);
	*rows = (struct files_rows){ 0 };
}

/* ---- maps ----------------------------------------------------------------------------------- */

static int insert_all(int fd, const void *keys, const void *values, size_t count)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts, .elem_flags = BPF_ANY);
	__u32 n = (__u32)count;

	if (fd < 0 || !n)
		return fd < 0 ? fd : 0;
	if (!bpf_map_update_batch(fd, keys, values, &n, &opts))
		return 0;
	return errno == E2BIG ? -ENOSPC : -errno;
}

static void delete_all(int fd, const void *keys, size_t size, size_t count)
{
	for (size_t i = 0; fd >= 0 && i < count; i++)
		bpf_map_delete_elem(fd, (const char *)keys + i * size);
}

static int insert_both(const struct files_rows *rows, struct kern *k)
{
	int rc = insert_all(half_fd(k, HALF_FS_OBJECTS), rows->object_keys, rows->objects,
			    rows->object_count);

	return rc ? rc
		  : insert_all(half_fd(k, HALF_FS_ENTRIES), rows->entry_keys, rows->entries,
			       rows->entry_count);
}

void files_rows_delete(const struct files_rows *rows, struct kern *k)
{
	if (rows->object_count)
		delete_all(half_fd(k, HALF_FS_OBJECTS), rows->object_keys,
			   sizeof(*rows->object_keys), rows->object_count);
	if (rows->entry_count)
		delete_all(half_fd(k, HALF_FS_ENTRIES), rows->entry_keys, sizeof(*rows->entry_keys),
			   rows->entry_count);
}

/* ---- what dead keepers left ----------------------------------------------------------------- */

/* Both kinds of key begin with their generation. */
struct key_list {
	char *keys;
	size_t size, count;
};

static int all_keys(int fd, size_t size, size_t max, struct key_list *out)
{
	char key[sizeof(struct sbx_fs_entry_key)], *at = NULL;

	*out = (struct key_list){ .keys = calloc(max, size), .size = size };
	if (!out->keys)
		return -ENOMEM;
	while (out->count < max && !bpf_map_get_next_key(fd, at, key)) {
		memcpy(out->keys + out->count++ * size, key, size);
		at = key;
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static size_t live_generations(struct kern *k, uint64_t *live)
{
	static const size_t max = SBX_MAX_SANDBOXES;
	own_mem uint64_t *ids = calloc(max, sizeof(*ids));
	size_t count = max, n = 0;
	struct sbx_sandbox row;

	if (!ids || kern_sandbox_list(k, ids, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (kern_sandbox_read(k, ids[i], &row))
			continue;
		live[n++] = row.files_generation;
		live[n++] = row.files_next;
	}
	qsort(live, n, sizeof(*live), by_number);
	return n;
}

/* The keys are read before the sandboxes: whoever has rows by then has claimed them. */
static void sweep_map(struct kern *k, int fd, size_t size, size_t max)
{
	own_mem uint64_t *live = calloc(2 * SBX_MAX_SANDBOXES, sizeof(*live));
	struct key_list list;
	uint64_t generation;
	size_t count;

	if (fd < 0 || all_keys(fd, size, max, &list))
		return;
	count = live ? live_generations(k, live) : 0;
	for (size_t i = 0; count && i < list.count; i++) {
		memcpy(&generation, list.keys + i * size, sizeof(generation));
		if (!bsearch(&generation, live, count, sizeof(*live), by_number))
			bpf_map_delete_elem(fd, list.keys + i * size);
	}
	free(list.keys);
}

int files_rows_insert(const struct files_rows *rows, struct kern *k)
{
	int rc = insert_both(rows, k);

	if (rc != -ENOSPC)
		return rc;
	sweep_map(k, half_fd(k, HALF_FS_OBJECTS), sizeof(struct sbx_fs_key), SBX_MAX_FS_OBJECTS);
	sweep_map(k, half_fd(k, HALF_FS_ENTRIES), sizeof(struct sbx_fs_entry_key),
		  SBX_MAX_FS_ENTRIES);
	return insert_both(rows, k);
}
