/* SPDX-License-Identifier: Apache-2.0 */
/* The forbidden thing, done in a child: two files without a name, of which a rule denies one. */
#include "kern/files_load.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/aside.h"
#include "kern/files_filter.h"
#include "kern/files_rows.h"

#define TRY_MS 3000

struct trial {
	const struct files_hooks *hooks;
	uint64_t id;
	struct sbx_fs_key key;
	struct sbx_fs_filter *filter;
	int denied, allowed;
};

enum { REFUSED = 0, ALLOWED = 1, BROKEN = 2 };

static int control(const struct trial *t, uint32_t what)
{
	struct sbx_control c = { .sandbox = t->id, .what = what, .key = t->key.generation };
	int rc = half_run(t->hooks->control_fd, &c, sizeof(c));

	return rc ? rc : c.error;
}

static int deny(struct trial *t)
{
	struct sbx_fs_inode at = { 0 };
	struct sbx_fs_object row = { .rule = 0, .flags = SBX_FS_RULE };

	if (files_inodes(t->hooks->inodes_fd, &t->denied, 1, &at) || !at.inode)
		return -1;
	t->key.inode = at.inode;
	row.ino = at.ino;
	row.dev = at.dev;
	if (files_filter_open(&t->filter, t->hooks->filter_fd))
		return -1;
	files_filter_add(t->filter, sbx_fs_object_cell(t->key.generation, (uint32_t)t->key.inode));
	return bpf_map_update_elem(t->hooks->objects_fd, &t->key, &row, BPF_ANY);
}

static int reopen(int fd)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : close(fd);
}

static int open_both(void *arg)
{
	struct trial *t = arg;
	int rc = reopen(t->denied);

	if (reopen(t->allowed))
		return BROKEN;
	return rc == -EACCES ? REFUSED : !rc ? ALLOWED : BROKEN;
}

/* The caller becomes the keeper of a sandbox with that policy, its next child the root. */
static int keep(void *arg)
{
	struct trial *t = arg;
	struct sbx_create c = { .id = t->id, .flags = SBX_KILL_WITH_KEEPER };
	int fd, verdict = BROKEN;

	if (half_run(t->hooks->create_fd, &c, sizeof(c)) || c.error)
		return BROKEN;
	t->denied = memfd_create("sbx-try", MFD_CLOEXEC);
	t->allowed = memfd_create("sbx-try", MFD_CLOEXEC);
	if (t->denied >= 0 && t->allowed >= 0 && !deny(t) && !control(t, SBX_CONTROL_FILES_CLAIM) &&
	    !control(t, SBX_CONTROL_FILES_PUBLISH)) {
		fd = aside_start(open_both, t, NULL);
		verdict = fd < 0 ? BROKEN : aside_end(fd, TRY_MS);
	}
	if (!bpf_map_delete_elem(t->hooks->objects_fd, &t->key))
		files_filter_remove(t->filter,
				    sbx_fs_object_cell(t->key.generation, (uint32_t)t->key.inode));
	control(t, SBX_CONTROL_DELETE);
	return verdict;
}

bool files_try(const struct files_hooks *h, char detail[SBX_DETAIL])
{
	struct trial t = {
		.hooks = h, .id = kern_id_new() | 1ull << 60, .denied = -1, .allowed = -1
	};
	int fd, rc;

	t.key.generation = kern_id_new() << SBX_FS_FLAGS_BITS;
	fd = aside_start(keep, &t, NULL);
	rc = fd < 0 ? fd : aside_end(fd, TRY_MS);
	control(&t, SBX_CONTROL_DELETE);
	if (rc == REFUSED)
		return true;
	snprintf(detail, SBX_DETAIL, "%s",
		 rc == ALLOWED	    ? "the file hooks attach but are not asked"
		 : rc == -ETIMEDOUT ? "an open under the file hooks did not return in time"
				    : "the trial of the file hooks failed");
	return false;
}
