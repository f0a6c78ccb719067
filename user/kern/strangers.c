/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/strangers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "kern/cgroup_place.h"
#include "kern/cgroup_state.h"
#include "kern/cgroup_tree.h"
#include "kern/half.h"

#define EXITING 0x4 /* PF_EXITING */
#define LOOKS_MAX 128

struct eviction {
	struct kern *k;
	uint64_t id;
	const char *group;
	enum cgroup_kind kind; /* of the v1 hierarchy that `group` is in; CGROUP_KINDS: v2 */
	__u32 *members; /* pids of the tree, in order; none where rows carry other numbers than ours */
	size_t count, room;
	char away[CGROUP_PATH_MAX]; /* where strangers go, "" until one was met */
	int stuck;
	unsigned int looks;
};

static int note_member(void *arg, const struct sbx_task *task)
{
	struct eviction *e = arg;
	__u32 *grown;

	if (e->count == e->room) {
		e->room = e->room ? 2 * e->room : 64;
		grown = reallocarray(e->members, e->room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		e->members = grown;
	}
	e->members[e->count++] = task->tgid;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const __u32 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool is_member(const struct eviction *e, __u32 pid)
{
	return e->count && bsearch(&pid, e->members, e->count, sizeof(pid), by_number);
}

/*
 * Two kinds of the tree's processes have no row for a moment: those in exit, and a child that its fork has put into the
 * group already and not labelled yet. The latter's parent has one.
 */
static bool between_rows(const struct eviction *e, pid_t pid)
{
	char path[40], text[1024], *end;
	unsigned int parent, flags;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (io_read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
		return true; /* gone */
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %*c %u %*d %*d %*d %*d %u", &parent, &flags) != 2)
		return true;
	return flags & EXITING || is_member(e, parent);
}

/* Of the tree by its label, or of a run that is no more. */
static bool belongs(const struct eviction *e, pid_t pid)
{
	own_fd pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct sbx_sandbox row;
	uint64_t label;

	if (pidfd < 0 || kern_label_of(e->k, pidfd, &label) < 0)
		return true;
	if (!label)
		return false;
	for (int i = 0; i < SBX_MAX_NEST && label != e->id; i++) {
		if (kern_sandbox_read(e->k, label, &row) < 0)
			return true;
		if (!row.parent)
			return false;
		label = row.parent;
	}
	return true;
}

static bool below(const char *dir, const char *group)
{
	size_t len = strlen(group);

	return !strncmp(dir, group, len) && (dir[len] == '/' || !dir[len]);
}

/* Our own group; where we have been put into the run's ourselves, the one around that. */
static int find_away(struct eviction *e)
{
	struct cgroup_place place = { 0 };
	struct cgroup_paths own;
	int rc = cgroup_place_find(&place, NULL, NULL);

	own = place.own;
	if (rc == 0 && e->kind != CGROUP_KINDS)
		rc = cgroup_place_v1(&place, e->kind, &own);
	if (rc == 0 && !below(own.dir, e->group))
		snprintf(e->away, sizeof(e->away), "%s", own.dir);
	else
		snprintf(e->away, sizeof(e->away), "%.*s", (int)(strrchr(e->group, '/') - e->group),
			 e->group);
	cgroup_place_done(&place);
	return rc;
}

static int evict(void *arg, pid_t pid)
{
	struct eviction *e = arg;
	own_fd away = -1;
	char number[16];

	/* A tree that forks makes a list without an end: it is killed first, whoever is in there. */
	if (is_member(e, (__u32)pid))
		return 0;
	if (e->looks++ == LOOKS_MAX)
		return -E2BIG;
	if (between_rows(e, pid) || belongs(e, pid))
		return 0;
	if (!e->away[0])
		find_away(e);
	away = open(e->away, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(number, sizeof(number), "%d", (int)pid);
	if (away < 0 || io_write_file(away, "cgroup.procs", number) < 0)
		e->stuck++;
	return 0;
}

int strangers_evict(struct kern *k, uint64_t id, const char *group)
{
	struct eviction e = { .k = k, .id = id };
	int rc = half_host_pids(k) ? kern_tasks_each(k, id, note_member, &e) : 0;
	char v1[CGROUP_PATH_MAX];

	qsort(e.members, e.count, sizeof(*e.members), by_number);
	for (int kind = CGROUP_KINDS; rc == 0 && kind >= 0; kind--) {
		if (kind != CGROUP_KINDS &&
		    !cgroup_sweep_recorded(group, (enum cgroup_kind)kind, v1))
			continue;
		e.kind = (enum cgroup_kind)kind;
		e.group = kind == CGROUP_KINDS ? group : v1;
		e.away[0] = '\0';
		rc = cgroup_tree_each(e.group, evict, &e);
	}
	free(e.members);
	return rc < 0 ? rc : e.stuck;
}
