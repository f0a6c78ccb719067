/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_view: what a run's groups say of it now, for who looks on: usage against limits. Found by the
 * recorded path; holds descriptors, so that a look is one read a file. Changes nothing.
 */
#ifndef KERN_CGROUP_VIEW_H
#define KERN_CGROUP_VIEW_H

#include <stdbool.h>
#include <stdint.h>

enum cgroup_view_file {
	CGROUP_VIEW_MEMORY,
	CGROUP_VIEW_MEMORY_MAX,
	CGROUP_VIEW_TASKS,
	CGROUP_VIEW_TASKS_MAX,
	CGROUP_VIEW_CPU,
	CGROUP_VIEW_IO,
	CGROUP_VIEW_EVENTS,
	CGROUP_VIEW_FILES,
};

struct cgroup_view {
	int fds[CGROUP_VIEW_FILES]; /* -1: there is none */
	bool open;
};

#define CGROUP_VIEW_UNKNOWN UINT64_MAX
#define CGROUP_VIEW_NO_LIMIT (UINT64_MAX - 1)
struct cgroup_figures {
	uint64_t memory_bytes, memory_max_bytes, tasks, tasks_max, cpu_ns, read_bytes, write_bytes;
	bool frozen;
};

/* `path` is that of the v2 group, `id` its incarnation: -ESTALE when another group has the name by now. A file that
 * is not there, or a descriptor that could not be had, is a figure that is unknown. */
int cgroup_view_open(struct cgroup_view *v, const char *path, uint64_t id);
void cgroup_view_close(struct cgroup_view *v); /* idempotent; of a zeroed one too */
/* All unknown when it is not open. `limits`: read the limits, too; else those figures stay as they are. */
void cgroup_view_read(const struct cgroup_view *v, bool limits, struct cgroup_figures *out);

#endif
