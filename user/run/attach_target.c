/* SPDX-License-Identifier: Apache-2.0 */
#include "run/attach_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD */

int attach_process(pid_t pid, struct attach_process *p)
{
	char path[40], text[1024], *end;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	n = io_read_file(AT_FDCWD, path, text, sizeof(text));
	end = n > 0 ? strrchr(text, ')') : NULL;
	if (!end || sscanf(end + 1,
			   " %c %d %*d %d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
			   "%*d %llu",
			   &p->state, &p->parent, &p->session, &p->flags, &p->start) != 5)
		return n < 0 ? (int)n : -ESRCH;
	return 0;
}

/* Whoever asked us would be tracked, stopped and killed with the tree, and we with it. */
static bool is_ancestor(pid_t pid, pid_t of)
{
	struct attach_process p;

	while (of > 1 && of != pid && !attach_process(of, &p))
		of = p.parent;
	return of == pid;
}

int attach_target_refuse(pid_t pid, int rc, const char *why, struct err *err)
{
	return err_say(err, rc == -ESRCH ? ERR_NOT_FOUND : ERR_VALIDATION, rc, "process %d %s",
		       (int)pid, why);
}

int attach_target_outside(pid_t pid, const pid_t *outside, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (is_ancestor(pid, outside[i]))
			return attach_target_refuse(
				pid, -EINVAL,
				"started this command, which would be in the sandbox itself: "
				"attach from elsewhere",
				err);
	return 0;
}

int attach_target_open(pid_t pid, const pid_t *outside, size_t count, struct err *err)
{
	struct attach_process p;
	int rc = attach_process(pid, &p), fd;

	if (geteuid() != 0)
		return err_say(err, ERR_PERMISSION, -EPERM,
			       "attach needs root: a process's number gives no right to it");
	if (pid == 1)
		return attach_target_refuse(pid, -EINVAL,
					    "is init: everything would be in the sandbox", err);
	if (rc < 0)
		return attach_target_refuse(pid, -ESRCH, "does not exist", err);
	if (p.flags & KERNEL_THREAD)
		return attach_target_refuse(pid, -EINVAL, "is a thread of the kernel", err);
	if (p.state == 'Z' || p.state == 'X')
		return attach_target_refuse(pid, -ESRCH, "has ended", err);
	rc = attach_target_outside(pid, outside, count, err);
	if (rc)
		return rc;
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd >= 0)
		return fd;
	if (errno == EINVAL || errno == ENOENT)
		return attach_target_refuse(pid, -EINVAL, "is a thread: name its process", err);
	return attach_target_refuse(pid, -errno,
				    errno == ESRCH ? "does not exist" : "cannot be watched", err);
}
