/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/loop.h"
#include "base/num.h"
#include "base/own.h"
#include "kern/cgroup_limits.h"
#include "kern/cgroup_state.h"
#include "kern/cgroup_tree.h"

static const char *const driver_names[] = {
	[CGROUP_NONE] = "none",		  [CGROUP_SYSTEMD_SCOPE] = "systemd-scope",
	[CGROUP_DELEGATED] = "delegated", [CGROUP_RAW_V2] = "raw-v2",
	[CGROUP_HYBRID] = "hybrid",
};

const char *cgroup_driver_name(enum cgroup_driver driver)
{
	return driver_names[driver];
}

enum cgroup_driver cgroup_driver(const struct cgroup *cg)
{
	return cg->driver;
}

int cgroup_clone_fd(const struct cgroup *cg)
{
	return cg->fd;
}

uint64_t cgroup_id(const struct cgroup *cg)
{
	return cg->id;
}

uint32_t cgroup_level(const struct cgroup *cg)
{
	return cg->level;
}

const char *cgroup_path(const struct cgroup *cg)
{
	return *cg->v2.dir ? cg->v2.dir : NULL;
}

int cgroup_kind_fd(const struct cgroup *cg, enum cgroup_kind kind, bool *v1)
{
	*v1 = cg->v1[kind].fd >= 0;
	return *v1 ? cg->v1[kind].fd : cg->fd;
}

/* "0" is the writer: a task that moves itself needs no lock on all thread groups. */
int cgroup_enter_self(const struct cgroup *cg)
{
	for (enum cgroup_kind kind = 0; kind < CGROUP_KINDS; kind++)
		if (cg->v1[kind].fd >= 0 && write(cg->v1[kind].tasks_fd, "0", 1) < 0)
			return -errno;
	return 0;
}

static int proc_cgroup(pid_t pid, char *text, size_t size, struct err *err)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	n = io_read_file(AT_FDCWD, path, text, size);
	return n < 0 ? err_set(err, (int)n, "read '%s'", path) : 0;
}

/* 1: there, 0: in another group, whose name is then in `name`. */
static int is_in(const char *text, const char *controller, const struct cgroup_paths *group,
		 char name[CGROUP_PATH_MAX])
{
	int r = cgroup_paths_name(text, controller, name);

	return r < 0 ? r : !strcmp(name, group->name);
}

static int enter_v1(const struct cgroup *cg, enum cgroup_kind kind, pid_t pid, const char *text,
		    struct err *err)
{
	const struct cgroup_v1 *group = &cg->v1[kind];
	char name[CGROUP_PATH_MAX], number[16];
	int r;

	if (group->fd < 0 || is_in(text, cgroup_kind_name(kind), &group->paths, name) == 1)
		return 0;
	snprintf(number, sizeof(number), "%d", (int)pid);
	r = io_write_file(group->fd, "cgroup.procs", number);
	if (r < 0)
		return err_cannot(err, cgroup_kind_capability(kind),
				  "move process %d into '%s/cgroup.procs': %s", (int)pid,
				  group->paths.dir, strerror(-r));
	return 0;
}

static bool has_v1(const struct cgroup *cg)
{
	for (enum cgroup_kind kind = 0; kind < CGROUP_KINDS; kind++)
		if (cg->v1[kind].fd >= 0)
			return true;
	return false;
}

int cgroup_enter(struct cgroup *cg, pid_t pid, struct err *err)
{
	char text[8192];
	int r = has_v1(cg) ? proc_cgroup(pid, text, sizeof(text), err) : 0;

	for (enum cgroup_kind kind = 0; !r && kind < CGROUP_KINDS; kind++)
		r = enter_v1(cg, kind, pid, text, err);
	return r;
}

/* "max", or the number: what to show of a field that is not as it was written. */
static void show(uint64_t value, char text[24])
{
	if (value >= CGROUP_LOST)
		strcpy(text, "no limit");
	else
		snprintf(text, 24, "%llu", (unsigned long long)value);
}

static int verify_kind(const struct cgroup *cg, enum cgroup_kind kind, struct err *err)
{
	struct cgroup_limits now = CGROUP_NO_LIMITS;
	char memory[24], swap[24], pids[24], cpu[24];
	bool v1;
	int fd = cgroup_kind_fd(cg, kind, &v1), r;
	const char *dir = v1 ? cg->v1[kind].paths.dir : cg->v2.dir;

	if (!cgroup_limits_asked(&cg->limits, kind))
		return 0;
	r = cgroup_limits_read(fd, v1, kind, &now);
	if (r < 0)
		return err_cannot(err, cgroup_kind_capability(kind),
				  "read the %s limit of '%s' back: %s", cgroup_kind_name(kind), dir,
				  strerror(-r));
	if (cgroup_limits_equal(&cg->limits, &now, kind))
		return 0;

	show(now.memory_bytes, memory);
	show(now.swap_bytes, swap);
	show(now.pids, pids);
	show(now.cpu_millicores, cpu);
	if (kind == CGROUP_MEMORY)
		return err_cannot(err, "memory_cap",
				  "'%s' holds memory %s, swap %s: not what was written; another "
				  "manager writes there, see doctor",
				  dir, memory, swap);
	return err_cannot(
		err, cgroup_kind_capability(kind),
		"'%s' holds %s %s: not what was written; another manager writes there, see doctor",
		dir, kind == CGROUP_PIDS ? "pids.max" : "thousandths of a CPU",
		kind == CGROUP_PIDS ? pids : cpu);
}

int cgroup_verify_limits(const struct cgroup *cg, struct err *err)
{
	int r = 0;

	for (enum cgroup_kind kind = 0; !r && kind < CGROUP_KINDS; kind++)
		r = verify_kind(cg, kind, err);
	return r;
}

int cgroup_verify(const struct cgroup *cg, pid_t pid, struct err *err)
{
	char text[8192], name[CGROUP_PATH_MAX];
	int r = proc_cgroup(pid, text, sizeof(text), err);

	if (r < 0)
		return r;
	if (is_in(text, NULL, &cg->v2, name) != 1)
		return err_cannot(err, "tree_kill", "process %d is in group '%s', not in '%s'",
				  (int)pid, name, cg->v2.name);
	for (enum cgroup_kind kind = 0; kind < CGROUP_KINDS; kind++) {
		const struct cgroup_v1 *group = &cg->v1[kind];

		if (group->fd >= 0 && is_in(text, cgroup_kind_name(kind), &group->paths, name) != 1)
			return err_cannot(err, cgroup_kind_capability(kind),
					  "process %d is in group '%s', not in '%s'", (int)pid,
					  name, group->paths.name);
	}
	return cgroup_verify_limits(cg, err);
}

void cgroup_limits_now(const struct cgroup *cg, struct cgroup_limits *now)
{
	struct cgroup_limits read = { CGROUP_LOST, CGROUP_LOST, CGROUP_LOST, CGROUP_LOST };

	*now = CGROUP_NO_LIMITS;
	for (enum cgroup_kind kind = 0; kind < CGROUP_KINDS; kind++) {
		bool v1;
		int fd = cgroup_kind_fd(cg, kind, &v1);

		if (cgroup_limits_asked(&cg->limits, kind))
			cgroup_limits_read(fd, v1, kind, &read);
	}
	if (cg->limits.memory_bytes != CGROUP_NOT_ASKED)
		now->memory_bytes = read.memory_bytes;
	if (cg->limits.swap_bytes != CGROUP_NOT_ASKED)
		now->swap_bytes = read.swap_bytes;
	if (cg->limits.pids != CGROUP_NOT_ASKED)
		now->pids = read.pids;
	if (cg->limits.cpu_millicores != CGROUP_NOT_ASKED)
		now->cpu_millicores = read.cpu_millicores;
}

static bool gone(int r)
{
	return r == -ENOENT || r == -ENODEV;
}

int cgroup_kill(struct cgroup *cg)
{
	int r = io_write_file(cg->fd, "cgroup.kill", "1");

	return gone(r) ? 0 : r;
}

int cgroup_freeze(struct cgroup *cg, bool frozen)
{
	return io_write_file(cg->fd, "cgroup.freeze", frozen ? "1" : "0");
}

int cgroup_populated(const struct cgroup *cg)
{
	char text[256];
	ssize_t n = io_read_file(cg->fd, "cgroup.events", text, sizeof(text));

	if (n < 0)
		return gone((int)n) ? 0 : (int)n;
	return strstr(text, "populated 1") != NULL;
}

static int busy(const char *dir, int r, struct err *err)
{
	return err_say(err, ERR_CLEANUP, r, "remove group '%s': %s%s", dir, strerror(-r),
		       r == -EBUSY ? ": something in it does not die" : "");
}

int cgroup_destroy(struct cgroup *cg, struct err *err)
{
	uint64_t until_ns = clock_boot_ns() + CGROUP_TREE_BUDGET_NS;
	int r;

	/* The v2 group records the others, so it goes last. */
	for (enum cgroup_kind kind = 0; kind < CGROUP_KINDS; kind++) {
		if (cg->v1[kind].fd < 0)
			continue;
		r = cgroup_tree_remove(cg->v1[kind].paths.dir, until_ns);
		if (r < 0)
			return busy(cg->v1[kind].paths.dir, r, err);
	}
	r = *cg->v2.dir ? cgroup_tree_remove(cg->v2.dir, until_ns) : 0;
	if (r < 0)
		return busy(cg->v2.dir, r, err);
	cgroup_scope_release(&cg->scope);
	return *cg->scope.dir ? cgroup_scope_gone(cg->scope.dir, until_ns, err) : 0;
}

void cgroup_free(struct cgroup *cg)
{
	if (!cg)
		return;
	cgroup_scope_release(&cg->scope);
	for (enum cgroup_kind kind = 0; kind < CGROUP_KINDS; kind++) {
		close_fd(&cg->v1[kind].fd);
		close_fd(&cg->v1[kind].tasks_fd);
	}
	close_fd(&cg->oom_fd);
	close_fd(&cg->fd);
	free(cg);
}
