/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps: the life of a run as a table, state x event -> next state. Pure.
 *
 * What a state does on entry is run/end.c's; that every pair is decided is a unit test's.
 */
#ifndef RUN_STEPS_H
#define RUN_STEPS_H

enum run_state {
	RUN_NEW,	 /* nothing made yet, or everything taken back */
	RUN_RUNNING,	 /* the root runs */
	RUN_LINGERING,	 /* the root has exited, its leftovers may finish (--leftovers wait|keep) */
	RUN_INTERRUPTED, /* a signal went to the root's process group; the grace runs */
	RUN_GRACE,	 /* TERM went to the whole tree; the grace runs */
	RUN_KILLING,  /* dying, cgroup.kill, strays, until nothing lives or the budget is spent */
	RUN_DRAINING, /* the tree is gone: what the pipes hold */
	RUN_ENDED,
	RUN_STATE__COUNT,
};

enum run_event {
	EV_ROOT_EXIT,	/* leftovers die with the root */
	EV_ROOT_LINGER, /* leftovers may finish */
	EV_SIGNAL,	/* INT, TERM, HUP, QUIT for the root */
	EV_END_GRACE,	/* deadline, stop: politely */
	EV_END_NOW,	/* owner, output, memory, terminate …: at once */
	EV_GRACE_OVER,
	EV_TREE_EMPTY,
	EV_KILL_BUDGET, /* something does not die */
	EV_DRAINED,
	EV_DETACH, /* an attached tree goes on without us */
	RUN_EVENT__COUNT,
};

/* RUN_STATE__COUNT never occurs in the table: a cell that keeps its state says so. */
enum run_state run_step(enum run_state state, enum run_event event);
const char *run_state_name(enum run_state state); /* "running", "stopping", "killing" … */

#endif
