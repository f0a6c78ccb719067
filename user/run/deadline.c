/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadline: every bound the keeper itself watches: wall clock, idleness, CPU time, execs, depth, memory
 * kills, output, the owner. No limit, no timer.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "run/attach.h"
#include "run/nest.h"
#include "run/receipt.h"
#include "run/state.h"

#define MS 1000000ULL
#define COUNTERS_NS (20 * MS)
#define CPU_POLL_MIN_NS (5 * MS)
#define CPU_POLL_MAX_NS (500 * MS)

const struct run_cause run_ancestor_ends = { .outcome = OUTCOME_CANCELLED,
					     .killed_by = KILLED_BY_ANCESTOR,
					     .limit = -1 };

static void exceed(struct run *run, enum run_event how, enum limit_id limit,
		   enum killed_by killed_by, uint64_t actual)
{
	struct run_cause cause = { .outcome = OUTCOME_LIMIT_EXCEEDED,
				   .killed_by = killed_by,
				   .limit = (int)limit,
				   .actual = actual };

	run_end(run, how, cause);
}

static void on_wall(void *arg)
{
	struct run *run = arg;

	if (run->limits[LIMIT_WALL].origin == ORIGIN_INHERITED) {
		result_diagnostic(&run->result, UINT64_MAX,
				  "the deadline of the sandbox around it has passed");
		run_end(run, EV_END_GRACE, run_ancestor_ends);
		return;
	}
	exceed(run, EV_END_GRACE, LIMIT_WALL, KILLED_BY_WALL, clock_boot_ns() - run->started_ns);
}

/* Idle means neither output nor CPU; a thousandth of the time on a CPU is what a sleeping shell uses. */
static void on_idle(void *arg)
{
	struct run *run = arg;
	uint64_t now = clock_boot_ns(), limit = run->limits[LIMIT_IDLE].value;
	uint64_t cpu = cgroup_cpu_ns(run->cgroup);
	uint64_t since = run->idle_since_ns;

	if (run->capture.last_output_ns > since)
		since = run->capture.last_output_ns;
	if (cpu != CGROUP_NOT_ASKED && cpu - run->idle_cpu_ns > limit / 1000 + MS)
		since = now;
	if (now - since >= limit) {
		exceed(run, EV_END_GRACE, LIMIT_IDLE, KILLED_BY_IDLE, now - since);
		return;
	}
	if (since == now)
		run->idle_cpu_ns = cpu;
	run->idle_since_ns = since;
	loop_timer_arm(run->loop, &run->idle, since + limit);
}

static void on_cpu_time(void *arg)
{
	struct run *run = arg;
	uint64_t used = cgroup_cpu_ns(run->cgroup), limit = run->limits[LIMIT_CPU_TIME].value, wait;

	if (used != CGROUP_NOT_ASKED && used >= limit) {
		exceed(run, EV_END_NOW, LIMIT_CPU_TIME, KILLED_BY_CPU_TIME, used);
		return;
	}
	wait = (limit - (used == CGROUP_NOT_ASKED ? 0 : used)) /
	       (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	wait = wait < CPU_POLL_MIN_NS	? CPU_POLL_MIN_NS
	       : wait > CPU_POLL_MAX_NS ? CPU_POLL_MAX_NS
					: wait;
	loop_timer_arm(run->loop, &run->cpu_time, clock_boot_ns() + wait);
}

/* A bound of the kernel half's was crossed. */
static bool breach(struct run *run, const struct sbx_sandbox *row)
{
	struct run_cause full = { .outcome = OUTCOME_INTERNAL_ERROR,
				  .killed_by = KILLED_BY_NONE,
				  .limit = -1 };

	if (row->flags & SBX_EXECS_HIT) {
		exceed(run, EV_END_NOW, LIMIT_EXECS, KILLED_BY_EXECS, receipt_execs(row));
	} else if (row->flags & SBX_DEPTH_HIT) {
		exceed(run, EV_END_NOW, LIMIT_DEPTH, KILLED_BY_DEPTH, row->max_depth + 1ULL);
	} else if (row->flags & SBX_TASKS_HIT) {
		result_diagnostic(
			&run->result, UINT64_MAX,
			"the kernel half could not track one more task; the tree was killed");
		run_end(run, EV_END_NOW, full);
	} else {
		return false;
	}
	return true;
}

/* Our init and the watcher see an owner's end as soon as we do. */
static bool owner_is_gone(const struct run *run)
{
	struct pollfd p = { .fd = run->owner.fd, .events = launch_owner_events(run) };

	return run->owner.fd >= 0 && poll(&p, 1, 0) > 0;
}

/* Where the sandbox around it ends too, the owner only went first. */
static void owner_ended(struct run *run)
{
	struct run_cause owner = { .outcome = OUTCOME_OWNER_EXITED,
				   .killed_by = KILLED_BY_OWNER,
				   .limit = -1 };

	run_end(run, EV_END_NOW, nest_ends(run->kern, run->id) ? run_ancestor_ends : owner);
}

static void orphaned(struct run *run, const struct sbx_sandbox *row)
{
	if ((row->flags & SBX_OWNER_DIED && !attach_root_owns(run)) || owner_is_gone(run))
		owner_ended(run);
	else if (row->flags & SBX_ANCESTOR_DIED)
		run_end(run, EV_END_NOW, run_ancestor_ends);
}

/* The kernel half stops the tree itself; here its reason becomes the result's. */
void deadline_reason(struct run *run, bool root_lives_or_was_killed)
{
	struct sbx_sandbox row;

	if (kern_sandbox_read(run->kern, run->id, &row) < 0)
		return;
	if (!breach(run, &row) && root_lives_or_was_killed)
		orphaned(run, &row);
}

static void on_counters(void *arg)
{
	struct run *run = arg;

	deadline_reason(run, true);
	if (run->state == RUN_RUNNING || run->state == RUN_LINGERING)
		loop_timer_arm(run->loop, &run->counters, clock_boot_ns() + COUNTERS_NS);
}

static void on_event(void *arg, const struct sbx_event *event)
{
	struct run *run = arg;

	if (event->kind == SBX_EVENT_DENIED) {
		run->confinement.denied_news = true;
		return;
	}
	tree_event(&run->tree, event);
	if (run->watch.process)
		run->watch.process(run->watch.arg, event);
}

static void on_ring(void *arg, uint32_t events)
{
	struct run *run = arg;

	(void)events;
	events_consume(run->events, 1024);
	confinement_tell(run);
	deadline_reason(run, true);
}

static void on_owner(void *arg, uint32_t events)
{
	struct run *run = arg;

	(void)events;
	loop_del(run->loop, &run->owner);
	owner_ended(run);
}

static void on_oom(void *arg, uint32_t events)
{
	struct run *run = arg;
	struct cgroup_usage usage;

	(void)events;
	if (!cgroup_oom(run->cgroup))
		return;
	cgroup_usage(run->cgroup, &usage);
	exceed(run, EV_END_NOW, LIMIT_MEMORY, KILLED_BY_MEMORY, usage.memory_peak_bytes);
}

static void on_over(void *arg)
{
	struct run *run = arg;

	exceed(run, EV_END_NOW, LIMIT_OUTPUT, KILLED_BY_OUTPUT, run->capture.limit + 1);
}

static void on_drained(void *arg)
{
	run_event(arg, EV_DRAINED);
}

/*
 * The reader is gone, or its disk is full: the command meets SIGPIPE on that stream as it would have,
 * has its grace, and is then killed. Whatever a pipe's reader did not want is nobody's loss; else it
 * is one that must not go unsaid.
 */
static void on_sink_gone(void *arg, int error)
{
	struct run *run = arg;
	struct run_cause cause = { .outcome = OUTCOME_STOPPED,
				   .killed_by = KILLED_BY_SIGNAL,
				   .limit = -1,
				   .signal = SIGPIPE };

	if (error != EPIPE) {
		run->result.output_lost = true;
		result_diagnostic(&run->result, UINT64_MAX, "write the output: %s",
				  strerror(error));
	}
	if (run->state == RUN_RUNNING)
		run_end(run, EV_SIGNAL, cause);
}

static void on_read_failed(void *arg, int error)
{
	struct run *run = arg;
	struct run_cause cause = { .outcome = OUTCOME_INTERNAL_ERROR,
				   .killed_by = KILLED_BY_NONE,
				   .limit = -1 };

	result_diagnostic(&run->result, UINT64_MAX, "sbx: internal error (read the output: %s)",
			  strerror(error));
	run_end(run, EV_END_NOW, cause);
}

/* Output that was passed through is not lost with its spill; captured output is. */
static void on_spill_failed(void *arg, int error)
{
	struct run *run = arg;

	result_diagnostic(&run->result, UINT64_MAX, "spill: %s", strerror(-error));
	if (run->keeper_out < 0)
		exceed(run, EV_END_NOW, LIMIT_OUTPUT, KILLED_BY_OUTPUT, run->capture.seen);
}

static void on_output(void *arg, int number, const char *bytes, size_t len)
{
	struct run *run = arg;

	if (run->watch.output)
		run->watch.output(run->watch.arg, number, bytes, len);
}

void deadline_init(struct run *run)
{
	const struct capture_hooks hooks = {
		.arg = run,
		.output = on_output,
		.over = on_over,
		.sink_gone = on_sink_gone,
		.read_failed = on_read_failed,
		.spill_failed = on_spill_failed,
		.drained = on_drained,
	};

	run->wall = (struct loop_timer){ .fire = on_wall, .arg = run };
	run->idle = (struct loop_timer){ .fire = on_idle, .arg = run };
	run->cpu_time = (struct loop_timer){ .fire = on_cpu_time, .arg = run };
	run->counters = (struct loop_timer){ .fire = on_counters, .arg = run };
	run->owner = (struct loop_source){ .fd = -1, .ready = on_owner, .arg = run };
	run->ring = (struct loop_source){ .fd = -1, .ready = on_ring, .arg = run };
	run->oom = (struct loop_source){ .fd = -1, .ready = on_oom, .arg = run };
	capture_init(&run->capture, run->loop, &hooks,
		     limit_in_force(&run->limits[LIMIT_OUTPUT]) ? run->limits[LIMIT_OUTPUT].value
								: RESULT_NONE);
}

/* Before the release: a command that ends at once must not be missed. */
int deadline_sources(struct run *run, struct err *err)
{
	uint32_t oom_events = 0;
	int rc = events_open(run->kern, run->id, on_event, run, &run->events, err);

	if (rc == 0) {
		run->ring.fd = events_fd(run->events);
		rc = loop_add(run->loop, &run->ring, EPOLLIN, err);
	}
	if (rc == 0)
		rc = signals_watch_root(run, err);
	if (rc == 0 && run->owner.fd >= 0)
		rc = loop_add(run->loop, &run->owner, run->owner_events, err);
	run->oom.fd = cgroup_events_fd(run->cgroup, &oom_events);
	if (rc == 0 && run->oom.fd >= 0)
		rc = loop_add(run->loop, &run->oom, oom_events, err);
	return rc;
}

void deadline_arm(struct run *run)
{
	const struct spec_limit *l = run->limits;

	uint64_t due = run->started_ns + l[LIMIT_WALL].value;

	if (limit_in_force(&l[LIMIT_WALL])) {
		loop_timer_arm(run->loop, &run->wall, due);
		clock_timer_set(run->backstop, due + run->spec->kill_after_ns + RUN_KILL_BUDGET_NS);
		kern_sandbox_set_deadline(run->kern, run->id, due);
	}
	if (limit_in_force(&l[LIMIT_IDLE])) {
		run->idle_since_ns = clock_boot_ns();
		run->idle_cpu_ns = cgroup_cpu_ns(run->cgroup);
		loop_timer_arm(run->loop, &run->idle, run->idle_since_ns + l[LIMIT_IDLE].value);
	}
	if (limit_in_force(&l[LIMIT_CPU_TIME]))
		on_cpu_time(run);
	if (limit_in_force(&l[LIMIT_EXECS]) || limit_in_force(&l[LIMIT_DEPTH]))
		loop_timer_arm(run->loop, &run->counters, clock_boot_ns() + COUNTERS_NS);
}

void deadline_disarm(struct run *run)
{
	loop_timer_disarm(run->loop, &run->wall);
	loop_timer_disarm(run->loop, &run->idle);
	loop_timer_disarm(run->loop, &run->cpu_time);
	loop_timer_disarm(run->loop, &run->counters);
	loop_timer_disarm(run->loop, &run->rest);
}
