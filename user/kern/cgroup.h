/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup: the groups of one run: limits, kill, freeze, usage. The only writer of cgroupfs.
 *
 * Driver by what is mounted and PID 1: systemd-scope (transient scope, Delegate=yes), delegated
 * (below a subtree that was delegated to us), raw-v2, hybrid (v1 limits, v2 kill). Always below the
 * groups that enclose us, or below `parent`. Never touches a group it did not make, except: where
 * the no-internal-process rule demands it, our own processes move to a leaf ("leaf.sbx") and
 * controllers are enabled on the way down (cgroup_control.h says when).
 */
#ifndef KERN_CGROUP_H
#define KERN_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum cgroup_driver {
	CGROUP_NONE,
	CGROUP_SYSTEMD_SCOPE,
	CGROUP_DELEGATED,
	CGROUP_RAW_V2,
	CGROUP_HYBRID
};
const char *cgroup_driver_name(enum cgroup_driver driver);

#define CGROUP_NOT_ASKED UINT64_MAX
struct cgroup_limits { /* CGROUP_NOT_ASKED: leave alone; memory without swap means no swap */
	uint64_t memory_bytes, swap_bytes, pids, cpu_millicores;
};
#define CGROUP_NO_LIMITS ((struct cgroup_limits){ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX })

struct cgroup_opts {
	const char *name;   /* "sbx-<id>": the sweep refuses groups that are named otherwise */
	const char *parent; /* --cgroup-parent: v2 path below the mount, NULL: our own group */
	struct cgroup_limits limits;
	bool want_memory_peak; /* without a limit too, on v2 where nobody has to move for it */
};

struct cgroup; /* opaque */

/* Makes the groups, writes the limits, reads them back; a limit that cannot be enforced is
 * ERR_CANNOT_ENFORCE of memory_cap, pids_cap or cpu_cap. Leaves nothing behind on failure. */
int cgroup_create(struct cgroup **out, const struct cgroup_opts *opts, struct err *err);

int cgroup_none(struct cgroup **out,
		struct err *err); /* nothing is made, nothing can be measured or bounded */
enum cgroup_driver cgroup_driver(const struct cgroup *cg);
/* Directory for CLONE_INTO_CGROUP; owned by cg. */
int cgroup_clone_fd(const struct cgroup *cg);
/* Id, depth below the root (UINT32_MAX: not to be known in this namespace), path (NULL: none): of the v2 group. */
uint64_t cgroup_id(const struct cgroup *cg);
uint32_t cgroup_level(const struct cgroup *cg);
const char *cgroup_path(const struct cgroup *cg);

/* Called by the child between clone and exec, while the keeper's descriptors are open: enters the v1
 * groups (26 µs; 11 ms where the parent does it, which waits for RCU). Allocates nothing. */
int cgroup_enter_self(const struct cgroup *cg);
/* For the blocked child: what cgroup_enter_self did not do. */
int cgroup_enter(struct cgroup *cg, pid_t pid, struct err *err);
/* Reads /proc/PID/cgroup and the limit files: the child is where it should be, limits are as asked. */
int cgroup_verify(const struct cgroup *cg, pid_t pid, struct err *err);

int cgroup_kill(struct cgroup *cg);
int cgroup_freeze(struct cgroup *cg, bool frozen); /* does not wait until it is */
/* 1 populated, 0 empty, negative errno. */
int cgroup_populated(const struct cgroup *cg);

/* With a memory limit: becomes ready for *events (EPOLLIN, or EPOLLPRI) when cgroup_oom is worth
 * asking. -1: no memory limit. */
int cgroup_events_fd(const struct cgroup *cg, uint32_t *events);
/* Whether the memory limit was overrun and the kernel kills for it. The keeper then kills the tree: v1
 * kills one process only, and a manager may reset memory.oom.group. Takes the event, keeps the answer. */
bool cgroup_oom(struct cgroup *cg);

struct cgroup_usage { /* UINT64_MAX: unmeasured */
	uint64_t cpu_user_ns, cpu_system_ns, memory_peak_bytes, tasks_peak, read_bytes, write_bytes;
	uint64_t oom_kills, pids_refused, memory_max_hits, cpu_throttled;
};
void cgroup_usage(const struct cgroup *cg, struct cgroup_usage *out);
/* user + system so far in ns, UINT64_MAX when unmeasured; cheap, for polling. */
uint64_t cgroup_cpu_ns(const struct cgroup *cg);

/* Changes limits of a live run (update), read back. On failure earlier limits of the same call may be
 * in force. A limit whose controller the run was started without is refused: what was charged so far
 * would not count. A first memory limit opens cgroup_events_fd. */
int cgroup_update(struct cgroup *cg, const struct cgroup_limits *limits, struct err *err);
/* What the kernel holds now for each limit that was asked, CGROUP_NOT_ASKED for the others; in force
 * is at most what was asked (pages round down). */
#define CGROUP_LOST (UINT64_MAX - 1) /* the file says "max", or is gone */
void cgroup_limits_now(const struct cgroup *cg, struct cgroup_limits *now);

/* The tightest limits of the groups that enclose our own process: they bound every run. */
int cgroup_enclosing(struct cgroup_limits *out, struct err *err);

/* Removes the groups and what the command made below them, with a bound of 500 ms on retries while
 * something is dying. Idempotent; -EBUSY when it could not. */
int cgroup_destroy(struct cgroup *cg, struct err *err);
void cgroup_free(struct cgroup *cg); /* closes, and ends a placeholder; removes nothing */

/* For a dead keeper's group, by the v2 path recorded in meta.json (the group itself knows its v1
 * groups): removes it, and with `kill` whatever lives in it first. 0 when it is gone already. */
int cgroup_sweep(const char *path, bool kill, struct err *err);

/* What this host offers, by trying: a group is made with each limit in turn, a child frozen and
 * killed in it, and all removed. */
struct cgroup_fact {
	bool ok;
	char why[256]; /* reason and remedy where it is false */
};
struct cgroup_facts {
	enum cgroup_driver driver;
	char detail[256]; /* how the driver was chosen and where groups go */
	struct cgroup_fact memory, pids, cpu, kill, freeze;
};
void cgroup_probe(struct cgroup_facts *out);

#endif
