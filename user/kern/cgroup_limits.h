/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_limits: the limit files of one group, v1 and v2: written, read back, compared.
 *
 * Knows directories and numbers, not runs. `dirfd` is the group's directory; fields of struct
 * cgroup_limits that are not asked are neither written nor compared.
 */
#ifndef KERN_CGROUP_LIMITS_H
#define KERN_CGROUP_LIMITS_H

#include "kern/cgroup.h"
#include "kern/cgroup_place.h"

bool cgroup_limits_asked(const struct cgroup_limits *limits, enum cgroup_kind kind);

/* Writes what `limits` asks of `kind`; with memory, no more swap than was asked (none by default)
 * and, on v2, oom.group. Negative errno; *file is the file that refused. */
int cgroup_limits_write(int dirfd, bool v1, enum cgroup_kind kind,
			const struct cgroup_limits *limits, const char **file);

/* Reads the fields of `kind`; CGROUP_LOST: no limit. A swap field whose file is absent stays as it is. */
int cgroup_limits_read(int dirfd, bool v1, enum cgroup_kind kind, struct cgroup_limits *now);

/* Whether `now` holds what `limits` asks of `kind`, memory rounded down to pages. */
bool cgroup_limits_equal(const struct cgroup_limits *limits, const struct cgroup_limits *now,
			 enum cgroup_kind kind);

/* Lowers each field of `limits` to that of `other`; CGROUP_NOT_ASKED and CGROUP_LOST are no limit. */
void cgroup_limits_lower(struct cgroup_limits *limits, const struct cgroup_limits *other);
/* Lowers `tightest` to what the groups from `own` up to the mount's root hold, short of the group
 * called `end` (NULL: none). */
void cgroup_limits_enclosing(const struct cgroup_paths *own, bool v1, enum cgroup_kind kind,
			     const char *end, struct cgroup_limits *tightest);

/* Pure: "max 100000", "50000 100000" of cpu.max -> CGROUP_LOST, 500. -EINVAL. */
int cgroup_limits_parse_cpu(const char *text, uint64_t *millicores);
/* Pure: 100 ms, or 1 s where the quota would be less than the 1 ms that the kernel takes. */
void cgroup_limits_cpu_quota(uint64_t millicores, uint64_t *quota_us, uint64_t *period_us);

#endif
