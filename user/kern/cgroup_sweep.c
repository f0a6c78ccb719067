/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/loop.h"
#include "kern/cgroup_state.h"
#include "kern/cgroup_tree.h"

static const char *leaf_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A sandboxed root may have written the record: only a group of the same name is believed. */
bool cgroup_sweep_recorded(const char *path, enum cgroup_kind kind, char out[CGROUP_PATH_MAX])
{
	ssize_t n = getxattr(path, cgroup_kind_mark(kind), out, CGROUP_PATH_MAX - 1);

	out[n > 0 ? n : 0] = '\0';
	if (strchr(out, '/') && !strcmp(leaf_of(out), leaf_of(path)))
		return true;
	out[0] = '\0';
	return false;
}

static int sweep_one(const char *dir, bool kill, uint64_t until_ns)
{
	int r = kill ? cgroup_tree_kill(dir) : 0;

	return r < 0 ? r : cgroup_tree_remove(dir, until_ns);
}

/* The scope that was made for this group: its placeholder died with the keeper. */
static int scope_gone(const char *path, const char *leaf, uint64_t until_ns, struct err *err)
{
	char dir[CGROUP_PATH_MAX], wanted[CGROUP_PATH_MAX];
	const char *slash;

	snprintf(dir, sizeof(dir), "%.*s", (int)(leaf > path ? leaf - path - 1 : 0), path);
	snprintf(wanted, sizeof(wanted), "%s" CGROUP_SCOPE_SUFFIX, leaf);
	slash = strrchr(dir, '/');
	return slash && !strcmp(slash + 1, wanted) ? cgroup_scope_gone(dir, until_ns, err) : 0;
}

int cgroup_sweep(const char *path, bool kill, struct err *err)
{
	uint64_t until_ns = clock_boot_ns() + CGROUP_TREE_BUDGET_NS;
	const char *leaf = leaf_of(path);
	char v1[CGROUP_KINDS][CGROUP_PATH_MAX];
	int r = 0;

	if (strncmp(leaf, CGROUP_PREFIX, strlen(CGROUP_PREFIX)) != 0)
		return err_say(err, ERR_VALIDATION, -EINVAL, "'%s' is not a group of a run", path);

	/* The processes first, everywhere; the v2 group, which has the record, is removed last. */
	if (kill)
		r = cgroup_tree_kill(path);
	for (enum cgroup_kind kind = 0; kind < CGROUP_KINDS; kind++)
		cgroup_sweep_recorded(path, kind, v1[kind]);
	for (enum cgroup_kind kind = 0; !r && kind < CGROUP_KINDS; kind++)
		if (*v1[kind])
			r = sweep_one(v1[kind], kill, until_ns);
	if (!r)
		r = cgroup_tree_remove(path, until_ns);
	if (!r)
		r = scope_gone(path, leaf, until_ns, err);
	return r < 0 ? err_say(err, ERR_CLEANUP, r, "remove group '%s': %s", path, strerror(-r))
		     : 0;
}
