/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/cgroup_members.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/own.h"

#define GROUP_DEPTH 32 /* of groups within groups */
#define PIDS_MAX 131072

int members_add(struct members *members, pid_t pid)
{
	if (pid <= 0)
		return 0; /* of a namespace that is not ours */
	if (members->count == members->room) {
		size_t room = members->room ? 2 * members->room : 64;
		pid_t *grown =
			room > PIDS_MAX ? NULL : reallocarray(members->list, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		members->list = grown;
		members->room = room;
	}
	members->list[members->count++] = pid;
	return 0;
}

static int add_group(int dir, unsigned int depth, struct members *members);

static int add_inner(int dir, unsigned int depth, struct members *members)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	own_dir entries = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	if (!entries) {
		close_fd(&copy);
		return -errno;
	}
	while (!rc && (e = readdir(entries))) {
		own_fd inner = -1;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		inner = openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner >= 0) /* else it was removed meanwhile */
			rc = add_group(inner, depth + 1, members);
	}
	return rc;
}

static int add_group(int dir, unsigned int depth, struct members *members)
{
	int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC), pid, rc = 0;
	own_file procs = fd < 0 ? NULL : fdopen(fd, "re");

	if (!procs) {
		close_fd(&fd);
		return depth && errno == ENOENT ? 0 : -errno;
	}
	if (depth > GROUP_DEPTH)
		return -ELOOP;
	while (!rc && fscanf(procs, "%d", &pid) == 1)
		rc = members_add(members, pid);
	return rc ? rc : add_inner(dir, depth, members);
}

static int by_number(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void sort(struct members *members)
{
	if (members->count)
		qsort(members->list, members->count, sizeof(*members->list), by_number);
}

int cgroup_members(const char *directory, struct members *out, struct err *err)
{
	own_fd dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = dir < 0 ? -errno : 0;

	*out = (struct members){ 0 };
	if (!rc)
		rc = add_group(dir, 0, out);
	sort(out);
	if (!rc)
		return 0;
	members_done(out);
	if (rc == -ENOENT || rc == -ENOTDIR)
		return err_say(err, ERR_NOT_FOUND, rc, "'%s' is not a control group's directory",
			       directory);
	return err_set(err, rc, "list the processes of '%s'", directory);
}

bool members_have(const struct members *members, pid_t pid)
{
	return members->count &&
	       bsearch(&pid, members->list, members->count, sizeof(pid), by_number);
}

void members_done(struct members *members)
{
	free(members->list);
	*members = (struct members){ 0 };
}
