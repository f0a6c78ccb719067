/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/files_rows.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/files.h"
#include "kern/files_filter.h"
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
	struct sbx_fs_object *values;
	struct sbx_fs_key *keys;

	if (files_table_make(&rows->objects, &files_objects, count))
		return -ENOMEM;
	keys = rows->objects.keys;
	values = rows->objects.values;
	for (size_t i = 0; i < count; i++) {
		keys[i] = (struct sbx_fs_key){ rows->generation, list[i].inode };
		values[i] = list[i].row;
	}
	return 0;
}

struct named {
	struct sbx_fs_entry_key key;
	struct sbx_fs_entry row;
};

static int by_key(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static size_t find_entries(const struct files_plan *plan, const struct sbx_fs_inode *at,
			   uint64_t generation, struct named *list)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->entry_count; i++) {
		const struct plan_entry *e = &plan->entries[i];
		const char *slash = strrchr(e->path, '/');
		struct sbx_fs_entry_key *key = &list[n].key;

		if (e->parent != SIZE_MAX && !at[e->parent].inode)
			continue;
		key->generation = generation;
		key->parent = e->parent == SIZE_MAX ? 0 : at[e->parent].inode;
		strncpy(key->name, slash ? slash + 1 : e->path, sizeof(key->name) - 1);
		list[n++].row = e->row;
	}
	return n;
}

/* One name under several paths: of equals, as with objects, what all of them give. */
static size_t merge_entries(struct named *list, size_t count)
{
	size_t kept = 0;

	qsort(list, count, sizeof(*list), by_key);
	for (size_t i = 0; i < count; i++) {
		struct sbx_fs_entry *to = kept ? &list[kept - 1].row : NULL;

		if (!to || by_key(&list[kept - 1], &list[i])) {
			list[kept++] = list[i];
		} else if (to->rights & ~list[i].row.rights) {
			to->rights &= list[i].row.rights;
			to->rule = list[i].row.rule;
		}
	}
	return kept;
}

static int make_entries(struct files_rows *rows, const struct files_plan *plan,
			const struct sbx_fs_inode *at)
{
	own_mem struct named *list = calloc(plan->entry_count + 1, sizeof(*list));
	struct sbx_fs_entry_key *keys;
	struct sbx_fs_entry *values;
	size_t count;

	if (!list)
		return -ENOMEM;
	count = merge_entries(list, find_entries(plan, at, rows->generation, list));
	if (files_table_make(&rows->entries, &files_entries, count))
		return -ENOMEM;
	keys = rows->entries.keys;
	values = rows->entries.values;
	for (size_t i = 0; i < count; i++) {
		keys[i] = list[i].key;
		values[i] = list[i].row;
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
	files_table_done(&rows->objects);
	files_table_done(&rows->entries);
	files_filter_close(rows->filter);
	*rows = (struct files_rows){ 0 };
}

/* ---- maps ----------------------------------------------------------------------------------- */

static int insert_both(struct files_rows *rows, struct kern *k)
{
	int rc = files_table_insert(&rows->objects, k, rows->filter);

	return rc ? rc : files_table_insert(&rows->entries, k, rows->filter);
}

int files_rows_insert(struct files_rows *rows, struct kern *k)
{
	int rc = files_filter_open(&rows->filter, half_fd(k, HALF_FS_FILTER));

	return rc ? rc : insert_both(rows, k);
}

void files_sweep(struct kern *k)
{
	struct sbx_fs_filter *filter;

	if (files_filter_open(&filter, half_fd(k, HALF_FS_FILTER)))
		return;
	files_table_sweep(&files_objects, k, filter);
	files_table_sweep(&files_entries, k, filter);
	files_filter_close(filter);
}

void files_rows_delete(const struct files_rows *rows, struct kern *k)
{
	if (!rows->filter)
		return;
	files_table_delete(&rows->objects, k, rows->filter);
	files_table_delete(&rows->entries, k, rows->filter);
}
