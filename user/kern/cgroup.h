/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup: the groups of one run: limits, kill, freeze, usage. The only writer of cgroupfs.
 *
 * Driver by statfs and PID 1: systemd-scope (transient scope, Delegate=yes), delegated (below a subtree
 * that was delegated to us), raw-v2, hybrid (v1 limits, v2 kill). Always below the groups that
 * enclose us, or below `parent`. Never touches a group it did not make, except moving our own
 * process to a leaf where the no-internal-process rule demands it (delegated container roots).
 */
#ifndef KERN_CGROUP_H
#define KERN_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum cgroup_driver { CGROUP_NONE, CGROUP_SYSTEMD_SCOPE, CGROUP_DELEGATED, CGROUP_RAW_V2, CGROUP_HYBRID };
const char *cgroup_driver_name(enum cgroup_driver driver); /* "systemd-scope" … */

#define CGROUP_NOT_ASKED UINT64_MAX
struct cgroup_limits { /* CGROUP_NOT_ASKED: leave alone */
	uint64_t memory_bytes, swap_bytes, pids, cpu_millicores;
};

struct cgroup_opts {
	const char *name;   /* "sbx-<id>" */
	const char *parent; /* --cgroup-parent: v2 path below the mount, NULL: our own group */
	struct cgroup_limits limits;
	bool want_memory_peak; /* make the memory group even without a limit, where that costs no v1 attach */
};

struct cgroup; /* opaque */

/* Makes the groups, writes the limits, reads them back; a limit that cannot be enforced is
 * ERR_CANNOT_ENFORCE with memory_cap, pids_cap or cpu_cap and the path and errno. Leaves nothing behind on failure. */
int cgroup_create(struct cgroup **out, const struct cgroup_opts *opts, struct err *err);

enum cgroup_driver cgroup_driver(const struct cgroup *cg);
int cgroup_clone_fd(const struct cgroup *cg);	 /* directory for CLONE_INTO_CGROUP, owned by cg */
uint64_t cgroup_id(const struct cgroup *cg);	 /* of the v2 group */
uint32_t cgroup_level(const struct cgroup *cg);	 /* its depth below the v2 root, root = 0 */
int cgroup_kill_fd(const struct cgroup *cg);	 /* cgroup.kill, -1 when the kernel lacks it */
const char *cgroup_path(const struct cgroup *cg); /* absolute path of the v2 group */

/* Puts a blocked child into the v1 groups (hybrid) and lets systemd forget its placeholder; no-op elsewhere. */
int cgroup_enter(struct cgroup *cg, pid_t pid, struct err *err);
/* Reads /proc/PID/cgroup and the limit files: the child is where it should be and limits are what was asked. */
int cgroup_verify(const struct cgroup *cg, pid_t pid, struct err *err);

int cgroup_kill(struct cgroup *cg);
int cgroup_freeze(struct cgroup *cg, bool frozen);
/* 1 populated, 0 empty, negative errno. */
int cgroup_populated(const struct cgroup *cg);

struct cgroup_usage { /* UINT64_MAX: unmeasured */
	uint64_t cpu_user_ns, cpu_system_ns, memory_peak_bytes, tasks_peak, read_bytes, write_bytes;
	uint64_t oom_kills, pids_refused, memory_max_hits;
};
void cgroup_usage(const struct cgroup *cg, struct cgroup_usage *out);
/* user + system so far in ns, UINT64_MAX when unmeasured; cheap, for polling. */
uint64_t cgroup_cpu_ns(const struct cgroup *cg);

/* Changes limits of a live run (update). Read back. */
int cgroup_update(struct cgroup *cg, const struct cgroup_limits *limits, struct err *err);
/* Whether each asked limit is still what was written: fills `now`; CGROUP_NOT_ASKED where it was not asked. */
int cgroup_limits_now(const struct cgroup *cg, struct cgroup_limits *now);

/* Removes the groups and what the command made below them, with a bound on retries while something is
 * dying. Idempotent; -EBUSY when it could not. */
int cgroup_destroy(struct cgroup *cg, struct err *err);
void cgroup_free(struct cgroup *cg);

/* For a dead keeper's group, by the path recorded in meta.json: kill what is in it and remove it. */
int cgroup_sweep(const char *path, struct err *err);

/* What this host offers without making anything: one line a capability. */
struct cgroup_facts {
	enum cgroup_driver driver;
	bool memory, pids, cpu, kill, freeze;
	char detail[256];
};
int cgroup_probe(struct cgroup_facts *out, struct err *err);

#endif
