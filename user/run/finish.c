/* SPDX-License-Identifier: Apache-2.0 */
/* finish: turns what happened into the result, once, and writes it. */
#include <signal.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/num.h"
#include "base/own.h"
#include "run/state.h"

/* The exit hook runs a moment before the zombie can be waited for. */
static void reap_root(struct run *run)
{
	struct pollfd p = { .fd = run->child.pidfd, .events = POLLIN };
	int status;

	if (run->child.pid > 0 && !run->root_exited) {
		poll(&p, 1, run->result.survivors ? 0 : 1000);
		if (waitpid(run->child.pid, &status, WNOHANG) == run->child.pid) {
			run->root_status = status;
			run->root_exited = true;
			run->child.pid = -1;
		}
	}
	while (waitpid(-1, &status, WNOHANG) > 0)
		;
}

static void from_row(struct run *run)
{
	struct result *r = &run->result;
	struct sbx_sandbox row;

	events_consume(run->events, 0);
	if (kern_sandbox_read(run->kern, run->id, &row) < 0)
		return;
	r->processes = row.processes;
	r->peak = row.live_processes_peak;
	r->survivors = run->cause.outcome == OUTCOME_DETACHED ? 0 : row.live_processes;
	if (run->cause.outcome == OUTCOME_DETACHED)
		result_diagnostic(r, UINT64_MAX, "detached: %llu processes go on",
				  (unsigned long long)row.live_processes);
	if (run->spec->attach && !run->root_exited && row.flags & SBX_ROOT_EXITED) {
		run->root_status = (int)row.root_status;
		run->root_exited = true;
	}
	r->cgroup_escapes = row.escapes;
	r->records_dropped = row.events_dropped;
	if (r->killed == RESULT_NONE)
		r->killed = 0;
	tree_finish(&run->tree, r);
}

static void add_hit(struct result *r, const char *kind, uint64_t count)
{
	if (count == CGROUP_NOT_ASKED || count == 0)
		return;
	snprintf(r->limits_hit[r->limits_hit_count].kind, sizeof(r->limits_hit[0].kind), "%s",
		 kind);
	r->limits_hit[r->limits_hit_count++].count = count;
}

static void from_cgroup(struct run *run, struct cgroup_usage *usage)
{
	struct result *r = &run->result;
	struct cgroup_limits now;
	const uint64_t *values[LIMIT__COUNT] = {
		[LIMIT_MEMORY] = &now.memory_bytes,
		[LIMIT_SWAP] = &now.swap_bytes,
		[LIMIT_PIDS] = &now.pids,
		[LIMIT_CPUS] = &now.cpu_millicores,
	};

	cgroup_limits_now(run->cgroup, &now);
	cgroup_usage(run->cgroup, usage);
	r->cpu_user_ns = usage->cpu_user_ns;
	r->cpu_system_ns = usage->cpu_system_ns;
	r->memory_peak_bytes = usage->memory_peak_bytes;
	r->tasks_peak = usage->tasks_peak;
	/* On tier A a fork that the group goes on to refuse was counted for a moment. */
	if (r->cgroup_escapes == 0 && r->tasks_peak < r->peak)
		r->peak = r->tasks_peak;
	r->read_bytes = usage->read_bytes;
	r->write_bytes = usage->write_bytes;
	add_hit(r, "pids", usage->pids_refused);
	for (int i = 0; i < LIMIT__COUNT; i++) {
		r->limits[i].asked = run->limits[i];
		if (!limit_in_force(&run->limits[i]))
			r->limits[i].still_in_force = -1;
		else if (!values[i])
			r->limits[i].still_in_force = 1;
		else
			r->limits[i].still_in_force = *values[i] <= run->limits[i].value;
	}
}

/* Nobody here ended it: what its own status says, with positive evidence for an out-of-memory kill. */
static void outcome_of_its_own(struct run *run, const struct cgroup_usage *usage)
{
	struct result *r = &run->result;
	bool oom = usage->oom_kills != CGROUP_NOT_ASKED && usage->oom_kills > 0;

	r->outcome = r->signal >= 0 ? OUTCOME_SIGNALED : OUTCOME_EXITED;
	if (r->signal != SIGKILL)
		return;
	r->killed_by = oom ? KILLED_BY_MEMORY : KILLED_BY_EXTERNAL;
	if (!oom)
		return;
	r->outcome = OUTCOME_LIMIT_EXCEEDED;
	r->limit = LIMIT_MEMORY;
	r->limit_actual = usage->memory_peak_bytes;
}

static void outcome_of_cause(struct run *run)
{
	const struct run_cause *cause = &run->cause;
	struct result *r = &run->result;

	r->outcome = cause->outcome;
	r->killed_by = cause->killed_by;
	r->limit = cause->limit;
	r->limit_actual = cause->actual;
	if (!cause->signal || run->cut)
		return;
	/* Forwarded: a root that chose its own way out has the last word. */
	if (r->exit_code >= 0) {
		r->outcome = OUTCOME_EXITED;
		r->killed_by = KILLED_BY_NONE;
	} else if (r->signal != SIGKILL) {
		r->outcome = OUTCOME_SIGNALED;
	}
}

static void diagnose(struct run *run)
{
	struct result *r = &run->result;
	uint64_t cap = limit_in_force(&run->limits[LIMIT_OUTPUT]) ? run->limits[LIMIT_OUTPUT].value
								  : UINT64_MAX;
	const char *by = killed_by_name(r->killed_by);
	char why[96] = "", more[64] = "", text[64];

	if (r->diagnostic[0])
		return;
	if (r->limit >= 0) {
		limit_text((enum limit_id)r->limit, run->limits[r->limit].value, text,
			   sizeof(text));
		snprintf(why, sizeof(why), "%s limit exceeded (%s)", limit_table[r->limit].name,
			 text);
	} else if (r->killed_by == KILLED_BY_SIGNAL) {
		num_signal_text(run->cause.signal, text, sizeof(text));
		snprintf(why, sizeof(why), "ended after %s", text);
	} else if (by) {
		snprintf(why, sizeof(why), "ended by: %s", by);
	}
	if (run->cut)
		snprintf(more, sizeof(more), "its output was not read");
	else if (r->survivors)
		snprintf(more, sizeof(more), "%llu processes did not die",
			 (unsigned long long)r->survivors);
	result_diagnostic(r, cap, "%s%s%s%s", why, why[0] && more[0] ? "; " : "", more,
			  why[0] || more[0] ? "" : run->network.names.failed);
}

static void times(struct run *run)
{
	struct result *r = &run->result;
	uint64_t now = clock_boot_ns();
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	r->ended_unix_ns = wall.tv_sec * 1000000000LL + wall.tv_nsec;
	r->wall_ns = now - run->started_ns;
	r->deadline_ns = limit_in_force(&run->limits[LIMIT_WALL]) ? run->limits[LIMIT_WALL].value
								  : RESULT_NONE;
	r->overrun_ns = RESULT_NONE;
	if (r->deadline_ns != RESULT_NONE)
		r->overrun_ns = r->wall_ns > r->deadline_ns ? r->wall_ns - r->deadline_ns : 0;
}

/* What was printed is in the caller's hands; how it ended is nowhere else. */
static void leave_text_out(json_t *result)
{
	static const char *const names[] = { "stdout", "stderr" };
	const json_t *output = json_object_get(result, "output");

	for (int i = 0; i < 2; i++) {
		json_t *stream = json_object_get(output, names[i]);

		json_object_set_new(stream, "text", json_null());
		json_object_set_new(stream, "truncated", json_true());
	}
}

static int write_result(struct run *run, bool with_text, struct err *err)
{
	json_t *json = result_json(&run->result);
	int rc;

	if (!json)
		return err_set(err, -ENOMEM, "result");
	if (!with_text)
		leave_text_out(json);
	rc = rundir_write_json(&run->dir, "result.json", json, err);
	json_decref(json);
	return rc < 0 ? rc : rundir_publish(&run->dir, err);
}

/* The result is worth more than the spills beside it. Whether there was one to give up. */
static bool give_up_spills(struct run *run)
{
	struct output_record *out[] = { &run->result.out, &run->result.err_ };
	bool any = false;

	for (int i = 0; i < 2; i++) {
		if (!out[i]->spill)
			continue;
		unlinkat(run->dir.fd, run->capture.streams[i].store.name, 0);
		free(take_ptr(&out[i]->spill));
		any = true;
	}
	return any;
}

static void store_result(struct run *run)
{
	struct err err = { 0 };
	int rc = FAULT("end_result");

	if (rc == 0)
		rc = write_result(run, true, &err);
	if (rc == -ENOSPC && give_up_spills(run))
		rc = write_result(run, true, &err);
	if (rc == -ENOSPC || rc == -EFBIG)
		rc = write_result(run, false, &err);
	run->unstored = rc < 0;
	if (rc < 0 && !run->result.diagnostic[0])
		result_diagnostic(&run->result, UINT64_MAX, "%s", err.text);
}

void run_finish(struct run *run)
{
	struct result *r = &run->result;
	struct cgroup_usage usage;

	from_row(run);
	run_denied(run);
	reap_root(run);
	from_cgroup(run, &usage);
	if (run->root_exited) {
		r->exit_code = WIFEXITED(run->root_status) ? WEXITSTATUS(run->root_status) : -1;
		r->signal = WIFSIGNALED(run->root_status) ? WTERMSIG(run->root_status) : -1;
		r->core_dumped = WIFSIGNALED(run->root_status) && WCOREDUMP(run->root_status);
	}
	if (run->cause.fixed)
		outcome_of_cause(run);
	else
		outcome_of_its_own(run, &usage);
	times(run);
	for (int i = 0; i < 2; i++)
		store_finish(&run->capture.streams[i].store, run->spec->keep_spill,
			     i ? &r->err_ : &r->out);
	if (run->spec->attach) /* it wrote to whatever it had */
		r->out.bytes = r->err_.bytes = RESULT_NONE;
	diagnose(run);
	store_result(run);
}
