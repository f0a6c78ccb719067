/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/cgroup_view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/cgroup_state.h"

#define UNKNOWN CGROUP_VIEW_UNKNOWN
#define NO_LIMIT CGROUP_VIEW_NO_LIMIT
#define V1_NO_LIMIT (1ULL << 62) /* v1 says "none" by a number near the largest */

/* The files of v2, and where v1 has the controller, of that. */
static const struct place {
	const char *v2, *v1;
	enum cgroup_kind kind; /* CGROUP_KINDS: v2 always */
} places[CGROUP_VIEW_FILES] = {
	[CGROUP_VIEW_MEMORY] = { "memory.current", "memory.usage_in_bytes", CGROUP_MEMORY },
	[CGROUP_VIEW_MEMORY_MAX] = { "memory.max", "memory.limit_in_bytes", CGROUP_MEMORY },
	[CGROUP_VIEW_TASKS] = { "pids.current", "pids.current", CGROUP_PIDS },
	[CGROUP_VIEW_TASKS_MAX] = { "pids.max", "pids.max", CGROUP_PIDS },
	[CGROUP_VIEW_CPU] = { "cpu.stat", NULL, CGROUP_KINDS },
	[CGROUP_VIEW_IO] = { "io.stat", NULL, CGROUP_KINDS },
	[CGROUP_VIEW_EVENTS] = { "cgroup.events", NULL, CGROUP_KINDS },
};

/* The v1 group of a kind, as recorded; -1 when there is none. A sandboxed root may have written the record: only a
 * group of the run's own name is believed. */
static int open_v1(const char *path, enum cgroup_kind kind)
{
	char dir[CGROUP_PATH_MAX];
	const char *leaf = strrchr(path, '/'), *its;
	ssize_t n = getxattr(path, cgroup_kind_mark(kind), dir, sizeof(dir) - 1);

	if (n <= 0 || !leaf)
		return -1;
	dir[n] = 0;
	its = strrchr(dir, '/');
	if (!its || strcmp(its, leaf))
		return -1;
	return open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int cgroup_view_open(struct cgroup_view *v, const char *path, uint64_t id)
{
	own_fd dir = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int kinds[CGROUP_KINDS];
	struct stat st;

	memset(v->fds, -1, sizeof(v->fds));
	v->open = false;
	if (dir < 0 || fstat(dir, &st))
		return -errno;
	if (id && st.st_ino != id)
		return -ESTALE;
	for (enum cgroup_kind kind = 0; kind < CGROUP_KINDS; kind++)
		kinds[kind] = open_v1(path, kind);
	for (int i = 0; i < CGROUP_VIEW_FILES; i++) {
		const struct place *p = &places[i];
		int v1 = p->kind < CGROUP_KINDS ? kinds[p->kind] : -1;

		v->fds[i] =
			openat(v1 >= 0 ? v1 : dir, v1 >= 0 ? p->v1 : p->v2, O_RDONLY | O_CLOEXEC);
	}
	for (enum cgroup_kind kind = 0; kind < CGROUP_KINDS; kind++)
		close_fd(&kinds[kind]);
	v->open = true;
	return 0;
}

void cgroup_view_close(struct cgroup_view *v)
{
	for (int i = 0; v->open && i < CGROUP_VIEW_FILES; i++)
		close_fd(&v->fds[i]);
	v->open = false;
}

/* Whether there is text. */
static bool text_of(const struct cgroup_view *v, enum cgroup_view_file file, char *buf, size_t size)
{
	ssize_t n = v->fds[file] < 0 ? -1 : pread(v->fds[file], buf, size - 1, 0);

	buf[n > 0 ? n : 0] = 0;
	return n > 0;
}

static uint64_t number_of(const struct cgroup_view *v, enum cgroup_view_file file)
{
	char text[64];
	uint64_t n;

	if (!text_of(v, file, text, sizeof(text)))
		return UNKNOWN;
	if (!strncmp(text, "max", 3))
		return NO_LIMIT;
	n = strtoull(text, NULL, 10);
	return file == CGROUP_VIEW_MEMORY_MAX && n >= V1_NO_LIMIT ? NO_LIMIT : n;
}

/* usage_usec is the first line. */
static uint64_t cpu_of(const struct cgroup_view *v)
{
	char text[128];

	if (!text_of(v, CGROUP_VIEW_CPU, text, sizeof(text)) || strncmp(text, "usage_usec ", 11))
		return UNKNOWN;
	return strtoull(text + 11, NULL, 10) * 1000;
}

static uint64_t sum_of(const char *text, const char *key)
{
	uint64_t sum = 0;

	for (const char *p = text; (p = strstr(p, key)); p += strlen(key))
		sum += strtoull(p + strlen(key), NULL, 10);
	return sum;
}

void cgroup_view_read(const struct cgroup_view *v, bool limits, struct cgroup_figures *out)
{
	char text[4096];

	if (!v->open) {
		memset(out, 0xff, sizeof(*out));
		out->frozen = false;
		return;
	}
	out->memory_bytes = number_of(v, CGROUP_VIEW_MEMORY);
	out->tasks = number_of(v, CGROUP_VIEW_TASKS);
	out->cpu_ns = cpu_of(v);
	out->read_bytes = out->write_bytes = UNKNOWN;
	if (v->fds[CGROUP_VIEW_IO] >= 0) {
		text_of(v, CGROUP_VIEW_IO, text, sizeof(text));
		out->read_bytes = sum_of(text, "rbytes=");
		out->write_bytes = sum_of(text, "wbytes=");
	}
	out->frozen =
		text_of(v, CGROUP_VIEW_EVENTS, text, sizeof(text)) && strstr(text, "frozen 1");
	if (!limits)
		return;
	out->memory_max_bytes = number_of(v, CGROUP_VIEW_MEMORY_MAX);
	out->tasks_max = number_of(v, CGROUP_VIEW_TASKS_MAX);
}
