/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/loop.h"
#include "kern/cgroup_state.h"
#include "kern/cgroup_tree.h"

/* The v1 group of a kind as it was recorded, "" when there is none. A sandboxed root may have written
 * the record: only a group of the same name is believed. */
static void recorded(const char *path, enum cgroup_kind kind, const char *leaf,
		     char out[CGROUP_PATH_MAX])
{
	ssize_t n = getxattr(path, cgroup_kind_mark(kind), out, CGROUP_PATH_MAX - 1);
	const char *slash;

	out[n > 0 ? n : 0] = '\0';
	slash = strrchr(out, '/');
	if (!slash || strcmp(slash + 1, leaf) != 0)
		out[0] = '\0';
}

static int sweep_one(const char *dir, uint64_t until_ns)
{
	int r = cgroup_tree_kill(dir);

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

int cgroup_sweep(const char *path, struct err *err)
{
	uint64_t until_ns = clock_boot_ns() + CGROUP_TREE_BUDGET_NS;
	const char *slash = strrchr(path, '/'), *leaf = slash ? slash + 1 : path;
	char v1[CGROUP_KINDS][CGROUP_PATH_MAX];
	int r;

	if (strncmp(leaf, CGROUP_PREFIX, strlen(CGROUP_PREFIX)) != 0)
		return err_say(err, ERR_VALIDATION, -EINVAL, "'%s' is not a group of a run", path);

	/* The processes first, everywhere; the v2 group, which has the record, is removed last. */
	r = cgroup_tree_kill(path);
	for (enum cgroup_kind kind = 0; kind < CGROUP_KINDS; kind++)
		recorded(path, kind, leaf, v1[kind]);
	for (enum cgroup_kind kind = 0; !r && kind < CGROUP_KINDS; kind++)
		if (*v1[kind])
			r = sweep_one(v1[kind], until_ns);
	if (!r)
		r = cgroup_tree_remove(path, until_ns);
	if (!r)
		r = scope_gone(path, leaf, until_ns, err);
	return r < 0 ? err_say(err, ERR_CLEANUP, r, "remove group '%s': %s", path, strerror(-r))
		     : 0;
}
