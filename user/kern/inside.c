/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

static int open_of(pid_t pid, const char *name, int flags)
{
	char path[48];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_all(struct inside *in, pid_t pid)
{
	in->space = open_of(pid, "ns/mnt", O_RDONLY);
	in->root = open_of(pid, "root", O_PATH | O_DIRECTORY);
	in->directory = open_of(pid, "cwd", O_PATH | O_DIRECTORY);
	return in->space < 0	   ? in->space
	       : in->root < 0	   ? in->root
	       : in->directory < 0 ? in->directory
				   : 0;
}

static void close_all(struct inside *in)
{
	close_fd(&in->space);
	close_fd(&in->root);
	close_fd(&in->directory);
}

static bool is_here(int space)
{
	struct stat own, other;

	return !stat("/proc/self/ns/mnt", &own) && !fstat(space, &other) &&
	       own.st_ino == other.st_ino && own.st_dev == other.st_dev;
}

/* The namespace first: it brings a root and a directory of its own. */
static int go(const struct inside *to, bool other_space)
{
	if (other_space && setns(to->space, CLONE_NEWNS))
		return -errno;
	if (fchdir(to->root) || chroot(".") || fchdir(to->directory))
		return -errno;
	return 0;
}

int inside_enter(struct inside *in, pid_t pid, struct err *err)
{
	struct inside there = { -1, -1, -1 };
	int rc;

	*in = there;
	rc = open_all(in, getpid());
	if (rc == 0)
		rc = open_all(&there, pid);
	if (rc == 0) {
		rc = go(&there, !is_here(there.space));
		if (rc && go(in, true))
			rc = -ENOTRECOVERABLE;
	}
	close_all(&there);
	if (rc == 0)
		return 0;
	close_all(in);
	return err_set(err, rc, "see the files as process %d does", (int)pid);
}

/* Its /proc may be another's, or none. */
int inside_leave(struct inside *in, struct err *err)
{
	int rc = go(in, true);

	close_all(in);
	return rc ? err_set(err, -ENOTRECOVERABLE, "come back from the mounts of another process")
		  : 0;
}
