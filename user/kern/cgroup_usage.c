/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "kern/cgroup_state.h"

#define UNMEASURED UINT64_MAX
#define NS_PER_US 1000
#define CHARGE_BATCH_BYTES (64 * 4096ULL) /* the kernel charges ahead by up to this */

/* The number after `key` in a flat-keyed file, UNMEASURED when it is not there. */
static uint64_t value_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *p = text; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
		if (!strncmp(p, key, len) && p[len] == ' ')
			return strtoull(p + len + 1, NULL, 10);
	return UNMEASURED;
}

static uint64_t read_key(int fd, const char *file, const char *key)
{
	char text[4096];

	return io_read_file(fd, file, text, sizeof(text)) < 0 ? UNMEASURED : value_of(text, key);
}

static uint64_t read_number(int fd, const char *file)
{
	uint64_t value;

	return io_read_u64(fd, file, &value) < 0 ? UNMEASURED : value;
}

static uint64_t ns(uint64_t us)
{
	return us == UNMEASURED ? UNMEASURED : us * NS_PER_US;
}

uint64_t cgroup_cpu_ns(const struct cgroup *cg)
{
	return ns(read_key(cg->fd, "cpu.stat", "usage_usec"));
}

/* memory plus swap is charged first: with no swap allowed it is that one which counts. Kernels from 6.15
 * on count neither and say 0 for ever. */
static uint64_t fail_count_v1(int fd)
{
	uint64_t memory = read_number(fd, "memory.failcnt");
	uint64_t sum = read_number(fd, "memory.memsw.failcnt");

	if (memory != UNMEASURED && memory > 0)
		return memory;
	return sum > 0 ? sum : UNMEASURED;
}

static void usage_cpu(const struct cgroup *cg, struct cgroup_usage *out)
{
	char text[4096];
	bool v1;
	int fd = cgroup_kind_fd(cg, CGROUP_CPU, &v1);

	out->cpu_throttled = read_key(fd, "cpu.stat", "nr_throttled");
	if (io_read_file(cg->fd, "cpu.stat", text, sizeof(text)) < 0)
		return;
	out->cpu_user_ns = ns(value_of(text, "user_usec"));
	out->cpu_system_ns = ns(value_of(text, "system_usec"));
}

static void usage_memory(const struct cgroup *cg, struct cgroup_usage *out)
{
	bool v1;
	int fd = cgroup_kind_fd(cg, CGROUP_MEMORY, &v1);

	if (v1) {
		out->memory_peak_bytes = read_number(fd, "memory.max_usage_in_bytes");
		out->oom_kills = read_key(fd, "memory.oom_control", "oom_kill");
		out->memory_max_hits = fail_count_v1(fd);
	} else {
		out->memory_peak_bytes = read_number(fd, "memory.peak");
		out->oom_kills = read_key(fd, "memory.events", "oom_kill");
		out->memory_max_hits = read_key(fd, "memory.events.local", "max");
	}
	/* v1 tells of the event before the kill; by now we may have killed first. */
	if (cg->oom && out->oom_kills == 0)
		out->oom_kills = 1;
}

/* io.stat: a line a device, "8:0 rbytes=1 wbytes=2 …". */
static void usage_io(const struct cgroup *cg, struct cgroup_usage *out)
{
	char text[8192];
	uint64_t n;

	if (io_read_file(cg->fd, "io.stat", text, sizeof(text)) < 0)
		return;
	out->read_bytes = out->write_bytes = 0;
	for (const char *p = text; (p = strstr(p, "bytes=")); p++) {
		if (p == text || sscanf(p, "bytes=%" SCNu64, &n) != 1)
			continue;
		if (p[-1] == 'r')
			out->read_bytes += n;
		else if (p[-1] == 'w')
			out->write_bytes += n;
	}
}

void cgroup_usage(const struct cgroup *cg, struct cgroup_usage *out)
{
	bool v1;
	int pids = cgroup_kind_fd(cg, CGROUP_PIDS, &v1);

	memset(out, 0xff, sizeof(*out));
	usage_cpu(cg, out);
	usage_memory(cg, out);
	usage_io(cg, out);
	out->tasks_peak = read_number(pids, "pids.peak");
	out->pids_refused = read_key(pids, "pids.events", "max");
}

static int watch_v1(struct cgroup *cg, int group)
{
	own_fd control = openat(group, "memory.oom_control", O_RDONLY | O_CLOEXEC);
	own_fd event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	char text[32];
	int r;

	if (control < 0 || event < 0)
		return -errno;
	snprintf(text, sizeof(text), "%d %d", event, control);
	r = io_write_file(group, "cgroup.event_control", text);
	if (!r)
		cg->oom_fd = take_fd(&event);
	return r;
}

int cgroup_watch_oom(struct cgroup *cg)
{
	bool v1;
	int fd = cgroup_kind_fd(cg, CGROUP_MEMORY, &v1);

	if (v1)
		return watch_v1(cg, fd);
	cg->oom_fd = openat(fd, "memory.events", O_RDONLY | O_CLOEXEC);
	/* What was read last is what the next event is measured against. */
	return cg->oom_fd < 0 ? -errno : (cgroup_oom(cg), 0);
}

int cgroup_events_fd(const struct cgroup *cg, uint32_t *events)
{
	bool v1;

	cgroup_kind_fd(cg, CGROUP_MEMORY, &v1);
	*events = v1 ? EPOLLIN : EPOLLPRI;
	return cg->oom_fd;
}

static bool some(uint64_t count)
{
	return count != UNMEASURED && count > 0;
}

/* The event goes to every group below the one that ran out: it was ours if we have been at our limit. */
static bool oom_v1(int group, int event)
{
	uint64_t count, peak = read_number(group, "memory.max_usage_in_bytes");
	uint64_t limit = read_number(group, "memory.limit_in_bytes");
	bool told = read(event, &count, sizeof(count)) == sizeof(count);

	return (told || some(read_key(group, "memory.oom_control", "oom_kill"))) &&
	       peak != UNMEASURED && peak + CHARGE_BATCH_BYTES >= limit;
}

/* A limit of a group nested inside is that group's affair: ours shows in events.local as "oom". */
static bool oom_v2(int group, int events)
{
	char text[1024];
	ssize_t n = pread(events, text, sizeof(text) - 1, 0);

	if (n < 0)
		return false;
	text[n] = '\0';
	return some(read_key(group, "memory.events.local", "oom")) &&
	       some(value_of(text, "oom_kill"));
}

bool cgroup_oom(struct cgroup *cg)
{
	bool v1;
	int fd = cgroup_kind_fd(cg, CGROUP_MEMORY, &v1);

	if (cg->oom_fd >= 0 && (v1 ? oom_v1(fd, cg->oom_fd) : oom_v2(fd, cg->oom_fd)))
		cg->oom = true;
	return cg->oom;
}
