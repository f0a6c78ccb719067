/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "kern/cgroup_control.h"
#include "kern/cgroup_limits.h"
#include "kern/cgroup_state.h"

static const char *const marks[CGROUP_KINDS] = {
	[CGROUP_MEMORY] = "trusted.sbx.memory",
	[CGROUP_PIDS] = "trusted.sbx.pids",
	[CGROUP_CPU] = "trusted.sbx.cpu",
};

const char *cgroup_kind_mark(enum cgroup_kind kind)
{
	return marks[kind];
}

static struct cgroup *new_cgroup(const struct cgroup_opts *opts)
{
	struct cgroup *cg = calloc(1, sizeof(*cg));

	if (!cg)
		return NULL;
	cg->fd = cg->oom_fd = cg->scope.hold_fd = cg->scope.pidfd = -1;
	for (enum cgroup_kind kind = 0; kind < CGROUP_KINDS; kind++)
		cg->v1[kind].fd = cg->v1[kind].tasks_fd = -1;
	cg->limits = opts->limits;
	return cg;
}

static int make_v2(struct cgroup *cg, const struct cgroup_place *place, const char *name,
		   struct err *err)
{
	int r = cgroup_paths_child(&cg->v2, &place->base, name);

	if (!r && mkdir(cg->v2.dir, 0755) < 0)
		r = -errno;
	if (r == -EROFS)
		return err_cannot(
			err, "tree_kill",
			"cgroupfs is mounted read-only on '%s' (EROFS): start the container "
			"with --privileged, or mount cgroup2 read-write",
			place->base.mount);
	return r < 0 ? err_set(err, r, "make group '%s'", cg->v2.dir) : 0;
}

static int open_v2(struct cgroup *cg, const struct cgroup_place *place, struct err *err)
{
	struct stat st;

	cg->fd = open(cg->v2.dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (cg->fd < 0 || fstat(cg->fd, &st) < 0)
		return err_set(err, -errno, "open group '%s'", cg->v2.dir);
	cg->id = st.st_ino; /* what the kernel calls the group's id */
	cg->level = place->whole ? cgroup_paths_level(cg->v2.name) : UINT32_MAX;
	return 0;
}

/* The record comes first: a keeper that dies in between leaves a name, never an unnamed group. */
static int make_v1(struct cgroup *cg, enum cgroup_kind kind, const struct cgroup_paths *own,
		   const char *name, struct err *err)
{
	struct cgroup_v1 *group = &cg->v1[kind];
	int r = cgroup_paths_child(&group->paths, own, name);

	if (!r &&
	    setxattr(cg->v2.dir, marks[kind], group->paths.dir, strlen(group->paths.dir), 0) < 0)
		r = -errno;
	if (!r && mkdir(group->paths.dir, 0755) < 0)
		r = -errno;
	if (r < 0)
		return err_cannot(err, cgroup_kind_capability(kind), "make group '%s': %s",
				  group->paths.dir, strerror(-r));

	group->fd = open(group->paths.dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (group->fd >= 0)
		group->tasks_fd = openat(group->fd, "tasks", O_WRONLY | O_CLOEXEC);
	if (group->fd >= 0 && group->tasks_fd >= 0)
		return 0;
	r = -errno;
	rmdir(group->paths.dir);
	return err_cannot(err, cgroup_kind_capability(kind), "open group '%s': %s",
			  group->paths.dir, strerror(-r));
}

static int refused(const struct cgroup *cg, enum cgroup_kind kind, const char *file, int r,
		   struct err *err)
{
	const char *dir = cg->v1[kind].fd >= 0 ? cg->v1[kind].paths.dir : cg->v2.dir;
	const char *remedy = "";

	if (r == -EOPNOTSUPP)
		remedy = ": cgroup v1 bounds swap only together with memory: give --memory too";
	else if (r == -ENOENT && strstr(file, "sw"))
		remedy = ": swap accounting is off: boot with swapaccount=1, or swapoff -a";
	else if (r == -EBUSY)
		remedy = ": the run uses more than that now";
	return err_cannot(err, cgroup_kind_capability(kind), "write '%s/%s': %s%s", dir, file,
			  strerror(-r), remedy);
}

/* v1 refuses a CPU quota above that of an enclosing group, where v2 takes the lower of both: do as v2. */
static int lower_cpu(struct cgroup *cg, struct cgroup_limits *limits)
{
	struct cgroup_limits enclosing = CGROUP_NO_LIMITS;
	struct cgroup_paths up = cg->v1[CGROUP_CPU].paths;

	if (!cgroup_paths_up(&up))
		cgroup_limits_enclosing(&up, true, CGROUP_CPU, NULL, &enclosing);
	if (enclosing.cpu_millicores >= limits->cpu_millicores)
		return -EINVAL;
	limits->cpu_millicores = enclosing.cpu_millicores;
	return 0;
}

static int write_kind(struct cgroup *cg, enum cgroup_kind kind, struct cgroup_limits *limits,
		      struct err *err)
{
	const char *file = "";
	bool v1;
	int fd = cgroup_kind_fd(cg, kind, &v1);
	int r = cgroup_limits_write(fd, v1, kind, limits, &file);

	if (r == -EINVAL && v1 && kind == CGROUP_CPU && !lower_cpu(cg, limits))
		r = cgroup_limits_write(fd, v1, kind, limits, &file);
	return r < 0 ? refused(cg, kind, file, r, err) : 0;
}

static int apply_kind(struct cgroup *cg, struct cgroup_place *place, enum cgroup_kind kind,
		      const struct cgroup_opts *opts, struct err *err)
{
	struct cgroup_paths own;
	int r;

	if (!cgroup_limits_asked(&cg->limits, kind)) {
		if (kind == CGROUP_MEMORY && opts->want_memory_peak &&
		    place->driver != CGROUP_HYBRID)
			cgroup_control_enable(place, kind, true, NULL);
		return 0;
	}
	r = cgroup_place_v1(place, kind, &own);
	if (r == -ENOENT)
		r = cgroup_control_enable(place, kind, false, err);
	else if (r < 0)
		r = err_cannot(
			err, cgroup_kind_capability(kind),
			"our own group '%s' of controller %s cannot be seen in its mount: %s",
			own.name, cgroup_kind_name(kind), strerror(-r));
	else
		r = make_v1(cg, kind, &own, opts->name, err);
	return r ? r : write_kind(cg, kind, &cg->limits, err);
}

static int watch_oom(struct cgroup *cg, struct err *err)
{
	int r = cgroup_watch_oom(cg);

	if (r < 0)
		return err_cannot(err, "memory_cap", "watch for out-of-memory in '%s': %s",
				  cg->v2.dir, strerror(-r));
	return 0;
}

/* Below a threaded group, or one with both processes and pids or cpu control, a new group is "domain
 * invalid" and takes no process. Only below the real root that cannot be. */
static int check_type(const struct cgroup *cg, struct err *err)
{
	char type[32];
	ssize_t n =
		cg->level == 1 ? -ENOENT : io_read_file(cg->fd, "cgroup.type", type, sizeof(type));

	if (n >= 0 && strcmp(type, "domain") != 0)
		return err_cannot(
			err, "tree_kill",
			"group '%s' is '%s': the one above it is threaded, or has both processes "
			"and controllers; name another with --cgroup-parent",
			cg->v2.dir, type);
	return 0;
}

static int apply(struct cgroup *cg, struct cgroup_place *place, const struct cgroup_opts *opts,
		 struct err *err)
{
	int r = 0;

	for (enum cgroup_kind kind = 0; !r && kind < CGROUP_KINDS; kind++)
		r = apply_kind(cg, place, kind, opts, err);
	if (!r)
		r = check_type(cg, err);
	if (!r)
		r = cgroup_verify_limits(cg, err);
	if (!r && cgroup_limits_asked(&cg->limits, CGROUP_MEMORY))
		r = watch_oom(cg, err);
	return r;
}

static int create(struct cgroup *cg, struct cgroup_place *place, const struct cgroup_opts *opts,
		  struct err *err)
{
	int r = cgroup_place_find(place, opts->parent, err);

	if (r < 0)
		return r;
	cg->driver = place->driver;
	if (cg->driver == CGROUP_SYSTEMD_SCOPE)
		r = cgroup_scope_start(&cg->scope, opts->name, place, &cg->limits, err);
	if (!r)
		r = make_v2(cg, place, opts->name, err);
	if (r < 0) {
		cg->v2.dir[0] = '\0'; /* not ours, if there is one of that name */
		return r;
	}
	r = open_v2(cg, place, err);
	return r ? r : apply(cg, place, opts, err);
}

int cgroup_create(struct cgroup **out, const struct cgroup_opts *opts, struct err *err)
{
	struct cgroup *cg = new_cgroup(opts);
	struct cgroup_place place;
	int r;

	if (!cg)
		return err_set(err, -ENOMEM, "make group '%s'", opts->name);
	r = create(cg, &place, opts, err);
	cgroup_place_done(&place);
	if (r < 0) {
		cgroup_destroy(cg, NULL);
		cgroup_free(cg);
		return r;
	}
	*out = cg;
	return 0;
}

int cgroup_none(struct cgroup **out, struct err *err)
{
	const struct cgroup_opts nothing = { .limits = CGROUP_NO_LIMITS };

	*out = new_cgroup(&nothing);
	return *out ? 0 : err_set(err, -ENOMEM, "attach");
}

/* Whether the group has the files of a kind: what it was started without is refused. */
static int updatable(const struct cgroup *cg, enum cgroup_kind kind, struct err *err)
{
	struct cgroup_limits now = CGROUP_NO_LIMITS;
	bool v1;
	int fd = cgroup_kind_fd(cg, kind, &v1);

	if (cg->driver == CGROUP_NONE)
		return err_cannot(err, cgroup_kind_capability(kind),
				  "the tree was attached and stays in its own control groups");
	if (!cgroup_limits_read(fd, v1, kind, &now))
		return 0;
	return err_cannot(
		err, cgroup_kind_capability(kind),
		"the run was started without a %s limit, and its %s group cannot be made now: "
		"what it has used so far would not count",
		cgroup_kind_name(kind), cgroup_kind_name(kind));
}

int cgroup_update(struct cgroup *cg, const struct cgroup_limits *limits, struct err *err)
{
	struct cgroup_limits asked = *limits;
	int r = 0;

	for (enum cgroup_kind kind = 0; !r && kind < CGROUP_KINDS; kind++)
		if (cgroup_limits_asked(&asked, kind))
			r = updatable(cg, kind, err);
	/* Swap alone keeps the memory limit, which v1 needs to know. */
	if (asked.swap_bytes != CGROUP_NOT_ASKED && asked.memory_bytes == CGROUP_NOT_ASKED)
		asked.memory_bytes = cg->limits.memory_bytes;
	else if (asked.memory_bytes != CGROUP_NOT_ASKED && asked.swap_bytes == CGROUP_NOT_ASKED)
		asked.swap_bytes = cg->limits.swap_bytes;

	if (!r && cg->driver == CGROUP_SYSTEMD_SCOPE)
		r = cgroup_scope_update(&cg->scope, &asked, err);
	for (enum cgroup_kind kind = 0; !r && kind < CGROUP_KINDS; kind++)
		if (cgroup_limits_asked(&asked, kind))
			r = write_kind(cg, kind, &asked, err);
	if (r < 0)
		return r;

	if (asked.memory_bytes != CGROUP_NOT_ASKED)
		cg->limits.memory_bytes = asked.memory_bytes;
	if (asked.swap_bytes != CGROUP_NOT_ASKED)
		cg->limits.swap_bytes = asked.swap_bytes;
	if (asked.pids != CGROUP_NOT_ASKED)
		cg->limits.pids = asked.pids;
	if (asked.cpu_millicores != CGROUP_NOT_ASKED)
		cg->limits.cpu_millicores = asked.cpu_millicores;
	if (cgroup_limits_asked(&cg->limits, CGROUP_MEMORY) && cg->oom_fd < 0)
		r = watch_oom(cg, err);
	return r ? r : cgroup_verify_limits(cg, err);
}

int cgroup_enclosing(struct cgroup_limits *out, struct err *err)
{
	struct cgroup_place place;
	struct cgroup_paths own;
	int r = cgroup_place_find(&place, NULL, err);

	*out = CGROUP_NO_LIMITS;
	for (enum cgroup_kind kind = 0; !r && kind < CGROUP_KINDS; kind++) {
		int v1 = cgroup_place_v1(&place, kind, &own);

		if (v1 != 0 && v1 != -ENOENT)
			continue; /* where our own group cannot be seen, nothing is known */
		cgroup_limits_enclosing(v1 ? &place.own : &own, !v1, kind, NULL, out);
	}
	cgroup_place_done(&place);
	return r;
}
