/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/cgroup_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/io.h"
#include "base/num.h"
#include "base/own.h"

#define PERIOD_US 100000
#define PERIOD_MAX_US 1000000
#define QUOTA_MIN_US 1000
#define V1_UNLIMITED (UINT64_MAX / 2 & ~0xfffffULL) /* v1 says LONG_MAX rounded down to a page */

bool cgroup_limits_asked(const struct cgroup_limits *limits, enum cgroup_kind kind)
{
	if (kind == CGROUP_PIDS)
		return limits->pids != CGROUP_NOT_ASKED;
	if (kind == CGROUP_CPU)
		return limits->cpu_millicores != CGROUP_NOT_ASKED;
	return limits->memory_bytes != CGROUP_NOT_ASKED || limits->swap_bytes != CGROUP_NOT_ASKED;
}

static int put(int dirfd, const char *file, const char *text, const char **refused)
{
	int r = FAULT("cgroup_write");

	if (!r)
		r = io_write_file(dirfd, file, text);
	if (r < 0)
		*refused = file;
	return r < 0 ? r : 0;
}

static int put_u64(int dirfd, const char *file, uint64_t value, const char **refused)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return put(dirfd, file, text, refused);
}

/* Without swap accounting a limit on swap still holds where there is no swap at all. */
static bool host_has_swap(void)
{
	char swaps[4096];

	return io_read_file(AT_FDCWD, "/proc/swaps", swaps, sizeof(swaps)) < 0 ||
	       strchr(swaps, '\n');
}

static uint64_t swap_of(const struct cgroup_limits *limits)
{
	return limits->swap_bytes == CGROUP_NOT_ASKED ? 0 : limits->swap_bytes;
}

static int put_swap(int dirfd, const char *file, uint64_t value, const char **refused)
{
	int r = put_u64(dirfd, file, value, refused);

	return r == -ENOENT && !host_has_swap() ? 0 : r;
}

static int write_memory(int dirfd, const struct cgroup_limits *limits, const char **file)
{
	int r = put_swap(dirfd, "memory.swap.max", swap_of(limits), file);

	if (!r && limits->memory_bytes != CGROUP_NOT_ASKED)
		r = put_u64(dirfd, "memory.max", limits->memory_bytes, file);
	return r ? r : put(dirfd, "memory.oom.group", "1", file);
}

/* v1 bounds memory and the sum of memory and swap; at no moment may the first exceed the second. */
static int write_memory_v1(int dirfd, const struct cgroup_limits *limits, const char **file)
{
	uint64_t memory = limits->memory_bytes, sum = memory + swap_of(limits);
	int r;

	*file = "memory.memsw.limit_in_bytes";
	if (memory == CGROUP_NOT_ASKED)
		return -EOPNOTSUPP; /* v1 cannot bound swap alone */
	r = put_u64(dirfd, "memory.limit_in_bytes", memory, file);
	if (r == -EINVAL) {
		r = put_swap(dirfd, "memory.memsw.limit_in_bytes", sum, file);
		return r ? r : put_u64(dirfd, "memory.limit_in_bytes", memory, file);
	}
	return r ? r : put_swap(dirfd, "memory.memsw.limit_in_bytes", sum, file);
}

void cgroup_limits_cpu_quota(uint64_t millicores, uint64_t *quota_us, uint64_t *period_us)
{
	*period_us = millicores * PERIOD_US / 1000 < QUOTA_MIN_US ? PERIOD_MAX_US : PERIOD_US;
	*quota_us = millicores * *period_us / 1000;
}

static int write_cpu(int dirfd, uint64_t millicores, const char **file)
{
	uint64_t quota, period;
	char text[48];

	cgroup_limits_cpu_quota(millicores, &quota, &period);
	snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64, quota, period);
	return put(dirfd, "cpu.max", text, file);
}

static int write_cpu_v1(int dirfd, uint64_t millicores, const char **file)
{
	uint64_t quota, period, now = 0;
	int r = io_read_u64(dirfd, "cpu.cfs_period_us", &now);

	*file = "cpu.cfs_period_us";
	if (r < 0)
		return r;
	cgroup_limits_cpu_quota(millicores, &quota, &period);
	if (now != period) {
		/* The old quota may be too much of the new period. */
		r = put(dirfd, "cpu.cfs_quota_us", "-1", file);
		if (!r)
			r = put_u64(dirfd, "cpu.cfs_period_us", period, file);
	}
	return r ? r : put_u64(dirfd, "cpu.cfs_quota_us", quota, file);
}

int cgroup_limits_write(int dirfd, bool v1, enum cgroup_kind kind,
			const struct cgroup_limits *limits, const char **file)
{
	if (kind == CGROUP_PIDS)
		return put_u64(dirfd, "pids.max", limits->pids, file);
	if (kind == CGROUP_CPU)
		return v1 ? write_cpu_v1(dirfd, limits->cpu_millicores, file)
			  : write_cpu(dirfd, limits->cpu_millicores, file);
	return v1 ? write_memory_v1(dirfd, limits, file) : write_memory(dirfd, limits, file);
}

int cgroup_limits_parse_cpu(const char *text, uint64_t *millicores)
{
	uint64_t quota, period;
	char end;

	if (!strncmp(text, "max", 3)) {
		*millicores = CGROUP_LOST;
		return 0;
	}
	if (sscanf(text, "%" SCNu64 " %" SCNu64 "%c", &quota, &period, &end) != 2 || !period ||
	    quota > UINT64_MAX / 1000)
		return -EINVAL;
	*millicores = quota * 1000 / period;
	return 0;
}

static int read_max(int dirfd, const char *file, uint64_t *value)
{
	int r = io_read_u64(dirfd, file, value);

	if (!r && *value == UINT64_MAX)
		*value = CGROUP_LOST;
	return r;
}

static int read_cpu(int dirfd, uint64_t *millicores)
{
	char text[64];
	ssize_t n = io_read_file(dirfd, "cpu.max", text, sizeof(text));

	return n < 0 ? (int)n : cgroup_limits_parse_cpu(text, millicores);
}

static int read_cpu_v1(int dirfd, uint64_t *millicores)
{
	char quota[32], text[64];
	uint64_t period;
	ssize_t n = io_read_file(dirfd, "cpu.cfs_quota_us", quota, sizeof(quota));
	int r = n < 0 ? (int)n : io_read_u64(dirfd, "cpu.cfs_period_us", &period);

	if (r < 0)
		return r;
	snprintf(text, sizeof(text), "%s %" PRIu64, quota[0] == '-' ? "max" : quota, period);
	return cgroup_limits_parse_cpu(text, millicores);
}

static int read_memory(int dirfd, struct cgroup_limits *now)
{
	int r = read_max(dirfd, "memory.max", &now->memory_bytes);

	if (r < 0)
		return r;
	r = read_max(dirfd, "memory.swap.max", &now->swap_bytes);
	return r == -ENOENT ? 0 : r;
}

static int read_memory_v1(int dirfd, struct cgroup_limits *now)
{
	uint64_t memory, sum;
	int r = io_read_u64(dirfd, "memory.limit_in_bytes", &memory), swap;

	if (r < 0)
		return r;
	now->memory_bytes = memory >= V1_UNLIMITED ? CGROUP_LOST : memory;
	swap = io_read_u64(dirfd, "memory.memsw.limit_in_bytes", &sum);
	if (!swap)
		now->swap_bytes = sum >= V1_UNLIMITED ? CGROUP_LOST : sum - memory;
	return swap == -ENOENT ? 0 : swap;
}

int cgroup_limits_read(int dirfd, bool v1, enum cgroup_kind kind, struct cgroup_limits *now)
{
	if (kind == CGROUP_PIDS)
		return read_max(dirfd, "pids.max", &now->pids);
	if (kind == CGROUP_CPU)
		return v1 ? read_cpu_v1(dirfd, &now->cpu_millicores)
			  : read_cpu(dirfd, &now->cpu_millicores);
	return v1 ? read_memory_v1(dirfd, now) : read_memory(dirfd, now);
}

/* The kernel rounds each file down to pages, so v1's difference of two may come out one page higher. */
static bool same_memory(const struct cgroup_limits *limits, const struct cgroup_limits *now)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), asked = limits->memory_bytes;

	if (asked != CGROUP_NOT_ASKED &&
	    (now->memory_bytes > asked || asked - now->memory_bytes >= page))
		return false;
	if (now->swap_bytes == CGROUP_NOT_ASKED) /* no such file */
		return !host_has_swap();
	return now->swap_bytes < swap_of(limits) + page;
}

bool cgroup_limits_equal(const struct cgroup_limits *limits, const struct cgroup_limits *now,
			 enum cgroup_kind kind)
{
	if (!cgroup_limits_asked(limits, kind))
		return true;
	if (kind == CGROUP_PIDS)
		return limits->pids == now->pids;
	if (kind == CGROUP_CPU)
		return limits->cpu_millicores == now->cpu_millicores;
	return same_memory(limits, now);
}

static void lower(uint64_t *field, uint64_t value)
{
	if (value < CGROUP_LOST && value < *field)
		*field = value;
}

void cgroup_limits_lower(struct cgroup_limits *limits, const struct cgroup_limits *other)
{
	lower(&limits->memory_bytes, other->memory_bytes);
	lower(&limits->swap_bytes, other->swap_bytes);
	lower(&limits->pids, other->pids);
	lower(&limits->cpu_millicores, other->cpu_millicores);
}

void cgroup_limits_enclosing(const struct cgroup_paths *own, bool v1, enum cgroup_kind kind,
			     const char *end, struct cgroup_limits *tightest)
{
	struct cgroup_paths at = *own;

	while (!end || strcmp(cgroup_paths_leaf(&at), end) != 0) {
		own_fd fd = open(at.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		struct cgroup_limits here = CGROUP_NO_LIMITS;

		/* A level without the controller has no file, and no limit. */
		if (fd >= 0 && !cgroup_limits_read(fd, v1, kind, &here))
			cgroup_limits_lower(tightest, &here);
		if (cgroup_paths_up(&at) < 0)
			return;
	}
}
