/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a run, in the order of DESIGN 7. The cause is fixed once; every step may be entered again.
 *
 * "dying" is set with the kill, not with the polite signal before it: a cleanup handler that runs
 * `rm` has to fork.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/own.h"
#include "kern/strangers.h"
#include "run/attach.h"
#include "run/nest.h"
#include "run/state.h"

static uint64_t alive(const struct run *run)
{
	struct sbx_sandbox row;

	return kern_sandbox_read(run->kern, run->id, &row) < 0 ? 0 : row.live;
}

static bool tree_is_empty(const struct run *run)
{
	return alive(run) == 0 && cgroup_populated(run->cgroup) <= 0;
}

/* A task that was counted out still has to leave its group and let go of its descriptors: microseconds. */
static bool tree_empties(const struct run *run)
{
	const struct timespec pause = { .tv_nsec = 20000 };

	for (int i = 0; i < 20 && alive(run) == 0; i++, nanosleep(&pause, NULL))
		if (cgroup_populated(run->cgroup) <= 0)
			return true;
	return false;
}

/* What was alive when the end began is what this end killed. */
static void count_victims(struct run *run)
{
	struct sbx_sandbox row;

	if (run->result.killed == RESULT_NONE && kern_sandbox_read(run->kern, run->id, &row) == 0)
		run->result.killed = row.live_processes;
}

/* A grace that is longer than the run's own does not outlast its deadline. */
static void arm_grace(struct run *run)
{
	const struct spec_limit *wall = &run->limits[LIMIT_WALL];
	uint64_t now = clock_boot_ns(), due = now + run->grace_ns, least, most;

	if (due < now)
		due = UINT64_MAX;
	if (run->grace_ns > run->spec->kill_after_ns && limit_in_force(wall)) {
		least = now + run->spec->kill_after_ns;
		most = run->started_ns + wall->value + run->spec->kill_after_ns;
		most = most > least ? most : least;
		due = due < most ? due : most;
	}
	loop_timer_arm(run->loop, &run->grace, due);
}

void end_grace(struct run *run, uint64_t grace_ns)
{
	uint64_t due = clock_boot_ns() + grace_ns;

	if (run->state < RUN_GRACE)
		run->grace_ns = grace_ns;
	else if (run->state == RUN_GRACE && due < run->grace.due_ns)
		loop_timer_arm(run->loop, &run->grace, due);
}

static void enter_grace(struct run *run)
{
	count_victims(run);
	if (run->frozen)
		run_freeze(run, false);
	kern_sandbox_set_ending(run->kern, run->id);
	kern_signal_tree(run->kern, run->id, run->spec->stop_signal);
	kern_signal_tree(run->kern, run->id,
			 SIGCONT); /* a stopped process would not see the other one */
	arm_grace(run);
	loop_timer_arm(run->loop, &run->killing, clock_boot_ns() + 1000000);
}

static void enter_interrupted(struct run *run)
{
	if (run->frozen)
		run_freeze(run, false);
	arm_grace(run);
	loop_timer_arm(run->loop, &run->killing, clock_boot_ns() + 1000000);
}

static void kill_once(struct run *run)
{
	kill_round(run->kern, run->id, cgroup_path(run->cgroup), &run->kills);
}

/* For a start that failed after the command was let go. Waits, for at most the budget. */
void run_kill(struct run *run)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint64_t until_ns = clock_boot_ns() + RUN_KILL_BUDGET_NS;

	if (!run->kern || !run->cgroup)
		return;
	kern_sandbox_set_dying(run->kern, run->id);
	while (!tree_is_empty(run) && clock_boot_ns() < until_ns) {
		kill_once(run);
		nanosleep(&pause, NULL);
	}
}

/*
 * Among a hundred runnable processes the keeper's turn comes after seconds, and every turn it misses makes more of them: while it
 * looks who is alive and kills, for as long as the budget at most, it goes first. Where that is not granted it is as slow
 * as before.
 */
static void go_first(struct run *run)
{
	static const struct sched_param first = { .sched_priority = 1 };

	if (sched_getscheduler(0) == SCHED_OTHER &&
	    !sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first))
		run->goes_first = true;
}

static void go_with_others(struct run *run)
{
	static const struct sched_param others = { 0 };

	if (run->goes_first)
		sched_setscheduler(0, SCHED_OTHER, &others);
	run->goes_first = false;
}

static void enter_killing(struct run *run)
{
	loop_timer_disarm(run->loop, &run->grace);
	if (tree_empties(run)) {
		run_event(run, EV_TREE_EMPTY);
		return;
	}
	go_first(run);
	count_victims(run);
	run->killing_since_ns = clock_boot_ns();
	if (!FAULT("end_dying"))
		kern_sandbox_set_dying(run->kern, run->id);
	if (!FAULT("end_kill"))
		kill_once(run);
	loop_timer_arm(run->loop, &run->killing, run->killing_since_ns + 300000);
}

static void enter_draining(struct run *run)
{
	(void)FAULT("end_drain");
	loop_timer_disarm(run->loop, &run->killing);
	go_with_others(run);
	run->drain_since_ns = clock_boot_ns();
	if (run->cause.outcome == OUTCOME_DETACHED) { /* whoever asked is answered first */
		loop_timer_arm(run->loop, &run->drain, run->drain_since_ns);
		return;
	}
	if (capture_drained(&run->capture)) {
		run_event(run, EV_DRAINED);
		return;
	}
	loop_timer_arm(run->loop, &run->drain, run->drain_since_ns + RUN_OUTSIDER_NS);
}

static void enter_ended(struct run *run)
{
	loop_timer_disarm(run->loop, &run->drain);
	deadline_disarm(run);
	run_finish(run);
	run_release(run);
	if (run->watch.ended)
		run->watch.ended(run->watch.arg, &run->result);
}

static void enter_lingering(struct run *run)
{
	loop_timer_arm(run->loop, &run->killing, clock_boot_ns() + 1000000);
	if (run->watch.root_exited)
		run->watch.root_exited(run->watch.arg, run->root_status);
}

static void (*const entries[RUN_STATE__COUNT])(struct run *run) = {
	[RUN_LINGERING] = enter_lingering, [RUN_INTERRUPTED] = enter_interrupted,
	[RUN_GRACE] = enter_grace,	   [RUN_KILLING] = enter_killing,
	[RUN_DRAINING] = enter_draining,   [RUN_ENDED] = enter_ended,
};

void run_event(struct run *run, enum run_event event)
{
	enum run_state next = run_step(run->state, event);

	if (next == run->state)
		return;
	run->state = next;
	if (entries[next])
		entries[next](run);
}

static bool output_waits(const struct run *run)
{
	const struct stream *s = run->capture.streams;

	return s[0].at < s[0].len || s[1].at < s[1].len;
}

bool run_endable(const struct run *run)
{
	return run->state >= RUN_RUNNING &&
	       (run->state < RUN_DRAINING || (run->state == RUN_DRAINING && output_waits(run)));
}

static void fix_cause(struct run *run, const struct run_cause *cause)
{
	run->cause = *cause;
	run->cause.fixed = true;
	run->cause.at_ns = clock_boot_ns();
}

/*
 * The tree is gone by itself, and a reader does not take what it wrote. The deadline, the owner and whoever says
 * stop bound that wait as they bounded the command, which would have waited in its write.
 */
static void cut_drain(struct run *run)
{
	if (run->cause.fixed || !run->late.fixed || !output_waits(run))
		return;
	fix_cause(run, &run->late);
	run->cut = true;
	capture_drop_sinks(&run->capture);
}

static void late_end(struct run *run, const struct run_cause *cause)
{
	if (!run->cause.fixed && cause->killed_by == KILLED_BY_OUTPUT) {
		fix_cause(run, cause); /* the rest of a pipe crossed the cap */
		return;
	}
	if (!run->late.fixed)
		run->late = *cause;
	run->late.fixed = true;
	cut_drain(run);
}

void run_end(struct run *run, enum run_event how, struct run_cause cause)
{
	if (run->state < RUN_RUNNING || run->state > RUN_DRAINING)
		return;
	if (run->state == RUN_DRAINING) {
		late_end(run, &cause);
		return;
	}
	go_first(run);
	if (!run->cause.fixed) {
		fix_cause(run, &cause);
		if (how != EV_DETACH)
			run_autopsy(run);
	}
	run_event(run, how);
	if (run->state != RUN_KILLING)
		go_with_others(run);
}

/* Grace, lingering and kill wait for the same thing; only the pace differs. */
static void on_killing(void *arg)
{
	struct run *run = arg;
	uint64_t now = clock_boot_ns(), pause = run->state == RUN_LINGERING ? 20000000 : 2000000;

	if (tree_is_empty(run)) {
		if (run->state ==
		    RUN_LINGERING) /* by the kernel, with the owner, before we saw that? */
			deadline_reason(run, true);
		run_event(run, EV_TREE_EMPTY);
		return;
	}
	if (run->state == RUN_KILLING) {
		if (now - run->killing_since_ns > RUN_KILL_BUDGET_NS) {
			run_event(run, EV_KILL_BUDGET);
			return;
		}
		kill_once(run);
		pause = run->kills.rounds < 50 ? 300000 : 5000000;
	}
	/* Who was killed needs the CPU to die as long as we needed it to kill. */
	loop_timer_arm(run->loop, &run->killing, 2 * clock_boot_ns() - now + pause);
}

static void on_grace(void *arg)
{
	run_event(arg, EV_GRACE_OVER);
}

/*
 * Nobody of ours holds the pipes any more. A pipe that stays open is an outsider's; a sink that takes no
 * more is waited for after an orderly end, as the command itself would have waited, and given up
 * on after a forced one.
 */
static void on_drain(void *arg)
{
	struct run *run = arg;
	uint64_t now = clock_boot_ns();
	bool waiting = output_waits(run);

	if (waiting && (!run->cause.fixed || now - run->drain_since_ns < RUN_DRAIN_NS)) {
		loop_timer_arm(run->loop, &run->drain, now + RUN_OUTSIDER_NS);
		cut_drain(run);
		return;
	}
	if (waiting)
		capture_drop_sinks(&run->capture);
	capture_sweep(&run->capture);
	capture_close(&run->capture);
	run_event(run, EV_DRAINED);
}

void end_timers_init(struct run *run)
{
	run->killing = (struct loop_timer){ .fire = on_killing, .arg = run };
	run->grace = (struct loop_timer){ .fire = on_grace, .arg = run };
	run->drain = (struct loop_timer){ .fire = on_drain, .arg = run };
}

/* A stranger that came into the empty group would hold it. */
static int destroy_group(struct run *run, struct err *err)
{
	int rc = cgroup_destroy(run->cgroup, err);

	if (rc == -EBUSY && run->id && run->kern &&
	    strangers_evict(run->kern, run->id, cgroup_path(run->cgroup)) == 0)
		rc = cgroup_destroy(run->cgroup, err);
	return rc;
}

/* Everything the start made, in reverse. Idempotent; also the way back from a failed start. */
void run_release(struct run *run)
{
	struct err err = { 0 };
	bool released;

	(void)FAULT("end_release");
	deadline_disarm(run);
	loop_timer_disarm(run->loop, &run->killing);
	loop_timer_disarm(run->loop, &run->grace);
	loop_timer_disarm(run->loop, &run->drain);
	loop_del(run->loop, &run->owner);
	loop_del(run->loop, &run->ring);
	loop_del(run->loop, &run->oom);
	signals_stop(run);
	close_fd(&run->owner.fd);
	watcher_stop(&run->watcher);
	pidns_stop(&run->pidns);
	close_fd(&run->backstop);
	terminal_close(take_ptr(&run->terminal));
	capture_done(&run->capture);
	for (int i = 0; i < 3; i++)
		close_fd(&run->child_fds[i]);
	spawn_done(&run->child);
	events_close(take_ptr(&run->events));
	released = !run->cgroup || destroy_group(run, &err) == 0;
	if (!released && !run->result.diagnostic[0])
		result_diagnostic(&run->result, UINT64_MAX, "%s", err.text);
	(void)FAULT("end_cgroup");
	cgroup_free(take_ptr(&run->cgroup));
	if (run->id && run->kern && nest_orphans(run->kern, run->id))
		run->dir.tidy_due = true;
	if (run->id && run->kern && !run->unstored) {
		if (run->confinement.asked || run->network.hooks)
			denials_forget(run->kern, run->id);
		attach_release(run);
		kern_sandbox_delete(run->kern, run->id);
	}
	confinement_release(run);
	network_release(run);
	names_stop(run);
	run->id = 0;
	(void)FAULT("end_row");
	kern_close(take_ptr(&run->kern));
	if (run->workdir[0])
		rmdir(run->workdir);
	if (released) /* else a later sweep tries again */
		rundir_release(&run->dir);
}
