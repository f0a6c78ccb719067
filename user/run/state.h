/* SPDX-License-Identifier: Apache-2.0 */
/* state: struct run as its own files see it; nobody outside user/run/ includes this. */
#ifndef RUN_STATE_H
#define RUN_STATE_H

#include "kern/cgroup.h"
#include "kern/events.h"
#include "kern/kern.h"
#include "kern/kill.h"
#include "kern/pidns.h"
#include "kern/user.h"
#include "kern/watcher.h"
#include "run/capture.h"
#include "run/confinement.h"
#include "run/network.h"
#include "run/run.h"
#include "run/rundir.h"
#include "run/steps.h"
#include "run/terminal.h"
#include "run/tree.h"

#define RUN_READY_TIMEOUT_MS 10000
#define RUN_KILL_BUDGET_NS (2ULL * 1000000000)
#define RUN_DRAIN_NS (500ULL * 1000000)	   /* bound of a forced end's drain */
#define RUN_OUTSIDER_NS (200ULL * 1000000) /* a pipe held by nobody of ours is closed after this */
#define RUN_SPILL_PASS_BYTES (64ULL << 20) /* spill of a stream that was passed through anyway */
#define RUN_SPILL_BYTES (8ULL << 30)	   /* of a captured one */

struct run {
	const struct spec *spec;
	struct loop *loop;
	struct run_watch watch;
	enum run_state state;
	struct run_cause cause, late; /* late: wished for while the output drained */
	bool cut;		      /* ended with output that its reader had not taken */
	bool unstored;		      /* no room for the result: the row stays as its receipt */
	struct result result;
	uint64_t id;
	char id_text[SBX_ID_LEN + 1];
	struct user user;
	bool switch_user;
	char **environ_vector;
	struct kern *kern;
	struct cgroup *cgroup;
	struct rundir dir;
	char **argv; /* of the exec: the spec's, or sh -c */
	struct spawn_opts spawn;
	struct spawn child;
	struct watcher watcher;
	struct pidns pidns;
	int backstop; /* a timer that the watcher or our init shares: what we miss when we are stopped */
	struct events *events;
	struct capture capture;
	struct terminal *terminal; /* NULL: no pty */
	struct tree tree;
	struct mounts_opts mounts;
	struct confinement confinement;
	struct network network;
	char workdir[320];
	struct spec_limit limits[LIMIT__COUNT]; /* in force now: spec, then update */

	pid_t owner_pid;	    /* 0: none, or a descriptor */
	uint32_t owner_events;	    /* of run->owner, that mean its end */
	int keeper_out, keeper_err; /* sinks, -1: none */
	int child_fds[3];	    /* its stdin, stdout, stderr until it has them */
	struct loop_source owner, ring, oom, signals, root;
	struct loop_timer wall, idle, cpu_time, counters, rest, grace, killing, drain;
	uint64_t started_ns, killing_since_ns, drain_since_ns, idle_since_ns, idle_cpu_ns;
	uint64_t grace_ns; /* of the spec, or of who said stop */
	struct kill_state kills;
	bool goes_first; /* scheduled before everybody else while it kills */
	bool root_exited, frozen;
	int root_status;
	pid_t parent; /* at the very start */
	char links[300];
};

/* launch.c; launch_parts.c has the pieces of the start that stand alone */
int run_launch(struct run *run, struct err *err);
/* Whoever outlives us: the kernel half by itself, our init, or a watcher, which is started when needed. Idempotent. */
int launch_watcher(struct run *run, struct err *err);
int launch_owner(struct run *run, struct err *err);
short launch_owner_events(const struct run *run); /* for poll(2): what means its end */
int launch_dir(struct run *run, struct err *err);
int launch_streams(struct run *run, struct err *err);
int launch_mounts(struct run *run, struct err *err);

/* end.c: the only place that moves run->state. */
void run_event(struct run *run, enum run_event event);
void run_end(struct run *run, enum run_event how, struct run_cause cause);
void end_grace(struct run *run, uint64_t grace_ns); /* of an end under way only a shorter one */
/* Whether there is still something that can be ended: the tree, or the wait for a reader of its output. */
bool run_endable(const struct run *run);
void run_kill(struct run *run);
void run_release(struct run *run);
void end_timers_init(struct run *run);

void run_finish(struct run *run); /* finish.c: turns what happened into the result */

/* deadline.c */
void deadline_init(struct run *run);
int deadline_sources(struct run *run, struct err *err);
void deadline_arm(struct run *run);
void deadline_disarm(struct run *run);
/* Ends the run for what the kernel half ended it for. A root that ended by itself was not killed with its owner. */
void deadline_reason(struct run *run, bool root_lives_or_was_killed);
extern const struct run_cause run_ancestor_ends;

/* signals.c */
int signals_start(struct run *run, struct err *err);
void signals_stop(struct run *run);
int signals_watch_root(struct run *run, struct err *err); /* its end as its pidfd tells it */
void run_suspend(struct run *run);

/* autopsy.c: who was alive and what each waited for; bounded in rows and time. */
void run_autopsy(struct run *run);

void run_clauses(const struct run *run, struct result *result); /* tier.c */
#endif
