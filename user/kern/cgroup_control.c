/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/cgroup_control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "kern/cgroup_scope.h"

#define MOVE_PASSES 16	/* forks may outrun a pass */
#define LEVELS_MAX 32	/* groups between the mount's root and ours */
#define LIST_BYTES 4096 /* cgroup.controllers, a page of cgroup.procs */

/* One word of a space-separated list. */
static bool lists(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += len)
		if ((p == list || p[-1] == ' ') && (p[len] == '\0' || p[len] == ' '))
			return true;
	return false;
}

static bool has(const char *dir, const char *file, enum cgroup_kind kind)
{
	own_fd fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char list[LIST_BYTES];

	return fd >= 0 && io_read_file(fd, file, list, sizeof(list)) >= 0 &&
	       lists(list, cgroup_kind_name(kind));
}

static int enable_at(const char *dir, enum cgroup_kind kind)
{
	own_fd fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char text[16];

	if (fd < 0)
		return -errno;
	snprintf(text, sizeof(text), "+%s", cgroup_kind_name(kind));
	return io_write_file(fd, "cgroup.subtree_control", text);
}

/* First process of a group and how many a page of them holds; 0: none. "0" is one of another pid
 * namespace; written back it would mean ourselves. */
static int first_pid(int procs, char pid[16])
{
	char list[LIST_BYTES];
	ssize_t n = pread(procs, list, sizeof(list) - 1, 0);
	int count = 0;

	if (n < 0)
		return -errno;
	list[n] = '\0';
	snprintf(pid, 16, "%.*s", (int)strcspn(list, "\n"), list);
	for (const char *p = list; *p; p++)
		count += *p == '\n';
	return count;
}

/* Moves one after the other; a process that cannot move ends it. */
static int move_all(int dir, int leaf)
{
	own_fd from = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char pid[16];
	int n = from < 0 ? -errno : 1, r = 0;

	for (int i = 0; n > 0 && i < MOVE_PASSES * LIST_BYTES; i++) {
		n = first_pid(from, pid);
		if (n > 0 && !strcmp(pid, "0"))
			return -EBUSY;
		if (n > 0)
			r = io_write_file(leaf, "cgroup.procs", pid);
		if (r < 0 && r != -ESRCH)
			return r;
	}
	return n;
}

/* Who else is there keeps us from enabling anything; then we do not even begin. */
static int move_self(int dir, int leaf)
{
	own_fd procs = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char pid[16];
	int n = procs < 0 ? -errno : first_pid(procs, pid);

	if (n < 0)
		return n;
	return n > 1 ? -EBUSY : io_write_file(leaf, "cgroup.procs", "0");
}

static bool may_move_all(const struct cgroup_place *place)
{
	return place->container || cgroup_place_made_by_us(place->base.dir);
}

static bool ours(const struct cgroup_place *place)
{
	struct cgroup_paths own = place->own;

	if (!strcmp(cgroup_paths_leaf(&own), CGROUP_LEAF))
		cgroup_paths_up(&own);
	return !strcmp(own.name, place->base.name);
}

static int to_leaf(const struct cgroup_place *place)
{
	own_fd dir = open(place->base.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	own_fd leaf = -1;
	int r;

	if (!ours(place))
		return -EBUSY;
	if (dir < 0 || (mkdirat(dir, CGROUP_LEAF, 0755) < 0 && errno != EEXIST))
		return -errno;
	leaf = openat(dir, CGROUP_LEAF, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (leaf < 0)
		return -errno;
	r = may_move_all(place) ? move_all(dir, leaf) : move_self(dir, leaf);
	if (r < 0)
		unlinkat(dir, CGROUP_LEAF,
			 AT_REMOVEDIR); /* fails, rightly, when others are in it */
	return r;
}

/*
 * Whether processes in the group are in the way. For memory the kernel says EBUSY itself; pids and cpu
 * it enables beside processes, but then takes no process into new groups below ("domain invalid").
 */
static bool in_the_way(const char *dir)
{
	own_fd fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	own_fd procs = fd < 0 ? -1 : openat(fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char pid[16];

	/* The real root, which has no type, may hold both. */
	return procs >= 0 && !faccessat(fd, "cgroup.type", F_OK, 0) && first_pid(procs, pid) > 0;
}

/* Undoes to_leaf of ourselves alone; a container's processes are as well off in the leaf. */
static void back(const struct cgroup_place *place)
{
	own_fd dir = open(place->base.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0 || may_move_all(place))
		return;
	if (!io_write_file(dir, "cgroup.procs", "0"))
		unlinkat(dir, CGROUP_LEAF, AT_REMOVEDIR);
}

static int say_busy(const struct cgroup_place *place, const char *dir, enum cgroup_kind kind,
		    struct err *err)
{
	return err_cannot(err, cgroup_kind_capability(kind),
			  "no-internal-process rule (EBUSY): '%s' holds processes that %s, so %s "
			  "cannot be controlled below it; name an empty group with --cgroup-parent",
			  dir, may_move_all(place) ? "cannot be moved to a leaf" : "are not ours",
			  cgroup_kind_name(kind));
}

static int say(const struct cgroup_place *place, const char *dir, enum cgroup_kind kind, int r,
	       struct err *err)
{
	const char *name = cgroup_kind_name(kind), *capability = cgroup_kind_capability(kind);

	if (r == -EBUSY)
		return say_busy(place, dir, kind, err);
	if (r == -EACCES || r == -EPERM)
		return err_cannot(
			err, capability,
			"delegation (%s): uid %u may not write '%s/cgroup.subtree_control' "
			"to enable %s: run as root, or have it delegated (Delegate=yes)",
			r == -EACCES ? "EACCES" : "EPERM", (unsigned int)geteuid(), dir, name);
	if (r == -EROFS)
		return err_cannot(
			err, capability,
			"cgroupfs on '%s' is read-only (EROFS): docker wants --privileged, "
			"podman --security-opt unmask=/sys/fs/cgroup",
			dir);
	return err_cannot(err, capability, "enable %s in '%s/cgroup.subtree_control': %s", name,
			  dir, strerror(-r));
}

static int not_delegated(const struct cgroup_place *place, enum cgroup_kind kind, struct err *err)
{
	const char *name = cgroup_kind_name(kind);

	return err_cannot(err, cgroup_kind_capability(kind),
			  "delegation: %s is not enabled below '%s', and systemd would undo it: "
			  "add Delegate=%s to its unit, or leave --cgroup-parent out",
			  name, place->base.dir, name);
}

static int not_offered(const struct cgroup_place *place, enum cgroup_kind kind, struct err *err)
{
	const char *why = "the host has to pass it on to this container";

	if (place->whole)
		why = "the kernel lacks it, or it is off (cgroup_disable=) or in use by cgroup v1";
	return err_cannot(err, cgroup_kind_capability(kind),
			  "no cgroup.controllers from '%s' up to '%s' has %s: %s", place->base.dir,
			  place->base.mount, cgroup_kind_name(kind), why);
}

/* Of the groups above base only those of a run that encloses us may be changed: its own, its scope. */
static bool ours_above(const char *dir)
{
	const char *suffix = strrchr(dir, '.'), *slash = strrchr(dir, '/');

	return cgroup_place_made_by_us(dir) ||
	       (suffix && slash && suffix > slash && !strcmp(suffix, CGROUP_SCOPE_SUFFIX) &&
		!strncmp(slash + 1, CGROUP_PREFIX, strlen(CGROUP_PREFIX)));
}

/* The groups above base in which the controller is offered but not passed on, from the top down. */
static int enable_above(const struct cgroup_place *place, enum cgroup_kind kind, struct err *err)
{
	struct cgroup_paths up = place->base;
	char chain[LEVELS_MAX][CGROUP_PATH_MAX];
	int n = 0, r;

	while (!has(up.dir, "cgroup.controllers", kind)) {
		if (n == LEVELS_MAX || cgroup_paths_up(&up) < 0)
			return not_offered(place, kind, err);
		strcpy(chain[n++], up.dir);
	}
	for (; n; n--) {
		if (place->systemd && !ours_above(chain[n - 1]))
			return not_delegated(place, kind, err);
		r = in_the_way(chain[n - 1]) ? -EBUSY : enable_at(chain[n - 1], kind);
		if (r < 0)
			return say(place, chain[n - 1], kind, r, err);
	}
	return 0;
}

int cgroup_control_enable(const struct cgroup_place *place, enum cgroup_kind kind, bool gentle,
			  struct err *err)
{
	const char *dir = place->base.dir;
	int r, moved;

	bool enabled = has(dir, "cgroup.subtree_control", kind), busy = in_the_way(dir);

	if (enabled && !busy)
		return 0;
	if (gentle && busy)
		return -EBUSY;
	if (!enabled && place->systemd && place->driver == CGROUP_RAW_V2)
		return not_delegated(place, kind, err);
	if (!has(dir, "cgroup.controllers", kind)) {
		r = gentle ? -ENOENT : enable_above(place, kind, err);
		if (r < 0)
			return r;
	}

	moved = busy ? to_leaf(place) : 0;
	r = moved < 0 ? moved : enable_at(dir, kind);
	if (r < 0 && busy && moved >= 0)
		back(place);
	return r < 0 ? say(place, dir, kind, r, err) : 0;
}
