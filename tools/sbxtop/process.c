/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

#define START_FIELD 22 /* of /proc/PID/stat, in clock ticks since boot */

/* The start times agree to a tick. */
static bool is_the_same(int dir, const struct view_process *v)
{
	char text[2048], *p;
	uint64_t tick_ns = 1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK), start;

	if (io_read_file(dir, "stat", text, sizeof(text)) < 0)
		return false;
	p = strrchr(text, ')'); /* the name before may have anything in it */
	for (int field = 2; p && field < START_FIELD; field++)
		p = strchr(p + 1, ' ');
	start = p ? strtoull(p + 1, NULL, 10) : 0;
	return p && start == v->start_ns / tick_ns;
}

static void read_arguments(int dir, char *buf, size_t size)
{
	own_fd fd = openat(dir, "cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	buf[n > 0 ? n : 0] = 0;
	for (ssize_t i = 0; i + 1 < n; i++)
		buf[i] = buf[i] ? buf[i] : ' ';
}

static void read_link(int dir, const char *name, char *buf, size_t size)
{
	ssize_t n = readlinkat(dir, name, buf, size - 1);

	buf[n > 0 ? n : 0] = 0;
}

void process_read(const struct view_process *v, struct process_facts *out)
{
	char path[32];
	struct stat st;

	*out = (struct process_facts){ 0 };
	snprintf(path, sizeof(path), "/proc/%u", v->pid);

	own_fd dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0 || fstat(dir, &st) || !is_the_same(dir, v))
		return;
	snprintf(out->user, sizeof(out->user), "%u", st.st_uid);
	if (geteuid() != 0 && geteuid() != st.st_uid)
		return;
	read_arguments(dir, out->arguments, sizeof(out->arguments));
	read_link(dir, "cwd", out->directory, sizeof(out->directory));
	read_link(dir, "exe", out->executable, sizeof(out->executable));
}
