/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glance: one run as who looks on sees it: for ps, and for every frame of sbxtop.
 *
 * Filled from whatever may be read, each call adding what it knows: meta.json, the kernel half's row, the
 * groups, the keeper's status. What nobody told is GLANCE_UNKNOWN, never 0; "there is none" is GLANCE_NONE.
 */
#ifndef RUN_GLANCE_H
#define RUN_GLANCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kern/cgroup_view.h"
#include "sbx/kern.h"

#define GLANCE_UNKNOWN UINT64_MAX
#define GLANCE_NONE (UINT64_MAX - 1)
#define GLANCE_UID_UNKNOWN ((uid_t)-1)

enum glance_state {
	GLANCE_STATE_UNKNOWN,
	GLANCE_STARTING,
	GLANCE_RUNNING,
	GLANCE_LINGERING, /* its root has exited, others have not */
	GLANCE_FROZEN,
	GLANCE_STOPPING, /* in its grace */
	GLANCE_KILLING,
	GLANCE_DRAINING, /* gone, but what it wrote is not through */
	GLANCE_SILENT,	 /* lives, and its keeper does not answer */
	GLANCE_ORPHAN,	 /* lives, and its keeper is dead */
	GLANCE_ENDED,
	GLANCE__STATES,
};
extern const char *const glance_state_names[GLANCE__STATES];

struct glance {
	char id[16];
	uint64_t number, parent;      /* 0: outermost, or unknown */
	char *name, *command, *scope; /* owned; any of them NULL; bytes that a sandbox chose */
	enum glance_state state;
	uid_t owner;
	char tier;		  /* 'A', 'B', '?' */
	unsigned int reduced;	  /* clauses that are not enforced though they were asked for */
	json_t *clauses, *limits; /* owned: of the tier; NAME: {value, unit, …}; NULL: unknown */
	int64_t started_unix_ns;  /* -1: unknown */
	uint64_t age_ns, deadline_left_ns, wall_limit_ns;
	uint64_t processes, processes_ever, threads;
	uint64_t cpu_ns, memory_bytes, memory_max_bytes, memory_peak_bytes, tasks, tasks_max;
	uint64_t read_bytes, write_bytes, output_bytes;
	uint64_t denials, denials_dropped, events_dropped;
	uint32_t root_pid, keeper_pid; /* 0: unknown */
	json_t *result;		       /* owned: of an ended run */
};

void glance_init(struct glance *g, const char *id);
void glance_done(struct glance *g);
/* What changes is unknown again: before a new look. */
void glance_forget(struct glance *g);

/* What does not change: name, command, owner, scope, tier, the limits at launch. */
void glance_meta(struct glance *g, const json_t *meta);
/* Counters, state, age. */
void glance_row(struct glance *g, const struct sbx_sandbox *row, uint64_t boot_ns);
void glance_groups(struct glance *g, const struct cgroup_figures *f);
/* The keeper's "status". */
void glance_status(struct glance *g, const json_t *status);
/* Of an ended run. */
void glance_result(struct glance *g, const json_t *result);

/* Whether a clause of "clauses" was asked for and tried, and is not enforced. */
bool glance_reduced(const json_t *clause);
/* For ps and sbxtop. null means none, or unknown where "unknown" names the key. New reference. */
json_t *glance_json(const struct glance *g);

/* Age and time left as of now, from what was told before. */
void glance_tick(struct glance *g, int64_t now_unix_ns);

#endif
