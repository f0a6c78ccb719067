/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"

#define FOREIGN "1 65534 1" /* one id, of nobody; root's is not among them */

static int open_of(pid_t pid, const char *name, int flags)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, flags | O_CLOEXEC);
}

static int write_map(pid_t pid, const char *name)
{
	own_fd fd = open_of(pid, name, O_WRONLY);

	return fd < 0 || write(fd, FOREIGN, strlen(FOREIGN)) < 0 ? -errno : 0;
}

/* The namespace is there as long as somebody is in it; the pipe ends with us, however we end. */
__attribute__((noreturn)) static void stay(int pipe_fd)
{
	char byte;

	while (read(pipe_fd, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static int map(pid_t pid)
{
	int rc = write_map(pid, "uid_map"), fd;

	if (rc == 0)
		rc = write_map(pid, "gid_map");
	if (rc < 0)
		return rc;
	fd = open_of(pid, "ns/user", O_RDONLY);
	return fd < 0 ? -errno : fd;
}

int idmap_foreign(struct err *err)
{
	int pair[2], fd;
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(err, -errno, "pipe");

	own_fd ours = pair[1];
	own_fd theirs = pair[0];

	pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0UL);
	if (pid == 0) {
		close(ours);
		stay(theirs);
	}
	if (pid < 0)
		return err_set(err, -errno, "make a user namespace");
	fd = map(pid);
	close_fd(&ours);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return fd < 0 ? err_set(err, fd, "map a user namespace") : fd;
}
