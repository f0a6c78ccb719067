/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/cgroup_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/loop.h"
#include "base/own.h"

#define PAUSE_MIN_NS 200000L
#define PAUSE_MAX_NS 20000000L
#define STEPS_MAX (1 << 20) /* more means that somebody still makes groups */
#define KILL_PASSES 64	    /* of v1 groups: something may fork between reading and killing */
#define EACH_DEPTH 32

static int open_group(const char *dir)
{
	own_fd fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return -errno;
	if (fs.f_type != CGROUP2_SUPER_MAGIC && fs.f_type != CGROUP_SUPER_MAGIC)
		return -EXDEV;
	return take_fd(&fd);
}

static bool is_child(const struct dirent *entry)
{
	return entry->d_type == DT_DIR && strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

/* Some child group of `fd`: 1 and its name, 0 when there is none. */
static int some_child(int fd, char name[NAME_MAX + 1])
{
	own_dir dir = NULL;
	own_fd copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *entry;

	if (copy < 0)
		return -errno;
	dir = fdopendir(copy);
	if (!dir)
		return -errno;
	take_fd(&copy);
	while ((entry = readdir(dir))) {
		if (!is_child(entry))
			continue;
		strcpy(name, entry->d_name);
		return 1;
	}
	return 0;
}

static int enter(int *fd, const char *name)
{
	int next = openat(*fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (next < 0)
		return -errno;
	close_fd(fd);
	*fd = next;
	return 0;
}

/* Deepest first: goes down while a child holds children, and up again once it holds none. */
static int remove_below(int top)
{
	own_fd at = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[NAME_MAX + 1];
	size_t depth = 0;
	bool descended = false;
	int r = at < 0 ? -errno : 0;

	for (size_t steps = 0; r >= 0 && steps < STEPS_MAX; steps++) {
		r = some_child(at, name);
		if (r == 0 && descended)
			return -EBUSY; /* no child holds it, so processes do */
		if (r == 0 && depth == 0)
			return 0;
		if (r == 0) {
			depth--;
			r = enter(&at, "..");
			continue;
		}
		descended = false;
		if (r < 0 || !unlinkat(at, name, AT_REMOVEDIR) || errno == ENOENT)
			continue;
		if (errno != EBUSY)
			return -errno;
		depth++;
		descended = true;
		r = enter(&at, name);
	}
	return r < 0 ? r : -EBUSY;
}

static int remove_once(const char *dir)
{
	own_fd top = -1;
	int r;

	if (!rmdir(dir) || errno == ENOENT)
		return 0;
	top = open_group(dir);
	if (top < 0)
		return top == -ENOENT ? 0 : top;
	r = remove_below(top);
	if (r < 0)
		return r == -ENOENT || r == -ENODEV ? -EBUSY : r; /* somebody removes it too */
	return !rmdir(dir) || errno == ENOENT ? 0 : -errno;
}

int cgroup_tree_remove(const char *dir, uint64_t until_ns)
{
	struct timespec pause = { .tv_nsec = PAUSE_MIN_NS };
	int r;

	while ((r = remove_once(dir)) == -EBUSY && clock_boot_ns() < until_ns) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_MAX_NS)
			pause.tv_nsec *= 2;
	}
	return r;
}

/* Whether a process is in the group of that (unique) name or below it, in any hierarchy. */
static bool member(pid_t pid, const char *leaf)
{
	char path[64], text[8192];
	size_t len = strlen(leaf);

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	if (io_read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	for (const char *p = text; (p = strstr(p, leaf)); p += len)
		if (p > text && p[-1] == '/' && strchr("/\n", p[len]))
			return true;
	return false;
}

/* Calls fn for the processes of one group, not below it. A threaded group lists none: its domain does. */
static int each_here(int fd, int (*fn)(void *arg, pid_t pid), void *arg)
{
	own_fd procs = openat(fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	own_file list = procs < 0 ? NULL : fdopen(procs, "r");
	int pid, r = 0;

	if (!list)
		return -errno;
	take_fd(&procs);
	while (r >= 0 && fscanf(list, "%d", &pid) == 1)
		if (pid > 0) /* 0: of a pid namespace that we do not see into */
			r = fn(arg, pid);
	return r;
}

static int each_below(int fd, int (*fn)(void *arg, pid_t pid), void *arg, unsigned int depth)
{
	own_fd copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	own_dir dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	int r = each_here(fd, fn, arg);

	if (!dir || r < 0)
		return dir ? r : -errno;
	take_fd(&copy);
	while (r >= 0 && depth < EACH_DEPTH && (entry = readdir(dir))) {
		own_fd child = -1;

		if (!is_child(entry))
			continue;
		child = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = child < 0 ? 0 : each_below(child, fn, arg, depth + 1);
	}
	return r;
}

int cgroup_tree_each(const char *dir, int (*fn)(void *arg, pid_t pid), void *arg)
{
	own_fd fd = open_group(dir);
	int r = fd < 0 ? fd : each_below(fd, fn, arg, 0);

	return r == -ENOENT || r == -ENODEV ? 0 : r < 0 ? r : 0;
}

struct killing {
	const char *leaf;
	int signalled;
};

/* The pidfd first, then the proof: what is proven and what is killed is then the same process. */
static int kill_one(void *arg, pid_t pid)
{
	struct killing *k = arg;
	own_fd fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0 || !member(pid, k->leaf))
		return 0;
	if (syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) < 0 && errno != ESRCH)
		return -errno;
	k->signalled++;
	return 0;
}

/* Number of processes that were signalled in a group and below it. */
static int kill_pass(int fd, const char *leaf)
{
	struct killing k = { .leaf = leaf };
	int r = each_below(fd, kill_one, &k, 0);

	return r < 0 ? r : k.signalled;
}

int cgroup_tree_kill(const char *dir)
{
	const char *slash = strrchr(dir, '/');
	own_fd fd = open_group(dir);
	int r = 1;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (!faccessat(fd, "cgroup.kill", W_OK, 0)) {
		r = io_write_file(fd, "cgroup.kill", "1");
		return r == -ENODEV ? 0 : r;
	}
	for (int i = 0; r > 0 && i < KILL_PASSES; i++)
		r = kill_pass(fd, slash ? slash + 1 : dir);
	return r < 0 ? r : 0;
}
