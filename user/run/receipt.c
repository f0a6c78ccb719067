/* SPDX-License-Identifier: Apache-2.0 */
#include "run/receipt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "run/result.h"

/* How it ended, as far as the evidence goes. */
struct verdict {
	enum outcome outcome;
	enum killed_by killed_by;
	int exit_code, signal;
	bool core_dumped;
	const char *diagnostic;
};

static struct verdict from_status(uint32_t status)
{
	struct verdict v = { .exit_code = -1, .signal = -1 };

	v.diagnostic = "the keeper left no result; the end is known from the kernel's receipt";
	if (WIFEXITED(status)) {
		v.outcome = OUTCOME_EXITED;
		v.exit_code = WEXITSTATUS(status);
	} else {
		v.outcome = OUTCOME_SIGNALED;
		v.signal = WTERMSIG(status);
		v.core_dumped = WCOREDUMP(status);
	}
	return v;
}

static struct verdict judge(const struct receipt *receipt)
{
	struct verdict v = { .exit_code = -1, .signal = -1 };

	if (receipt->let_go) {
		v.outcome = OUTCOME_DETACHED;
		v.diagnostic = "detached after its keeper had died; its processes go on";
		return v;
	}
	if (!receipt->has_row || !(receipt->row.flags & SBX_ROOT_EXITED)) {
		v.diagnostic = receipt->this_boot
				       ? "the keeper died and left no evidence of the end"
				       : "the host was restarted while it ran";
		return v;
	}
	if (!receipt->row.execs && !receipt->attached) {
		v.outcome = OUTCOME_COULD_NOT_RUN;
		v.diagnostic = "the keeper died before it had started the command";
		return v;
	}
	v = from_status(receipt->row.root_status);
	if (receipt->row.flags & (SBX_EXECS_HIT | SBX_DEPTH_HIT)) {
		v.outcome = OUTCOME_LIMIT_EXCEEDED;
		v.killed_by =
			receipt->row.flags & SBX_EXECS_HIT ? KILLED_BY_EXECS : KILLED_BY_DEPTH;
	} else if (receipt->row.flags & SBX_ANCESTOR_DIED &&
		   (v.signal == SIGKILL || v.signal == SIGTERM)) { /* its end is polite first */
		v.outcome = OUTCOME_CANCELLED;
		v.killed_by = KILLED_BY_ANCESTOR;
		v.diagnostic = "the sandbox around it ended";
	} else if (receipt->row.flags & SBX_OWNER_DIED && v.signal == SIGKILL &&
		   !(receipt->attached && receipt->row.owner_tgid == receipt->row.root_pid)) {
		v.outcome = OUTCOME_OWNER_EXITED;
		v.killed_by = KILLED_BY_OWNER;
		v.diagnostic = receipt->attached ? "the keeper had died; its owner ended it"
						 : "the keeper died, and its tree with it";
	}
	return v;
}

static json_t *known(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *boot_time_text(uint64_t boot_ns)
{
	char text[RESULT_TIME_LEN];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	result_time_text((int64_t)now.tv_sec * 1000000000 + now.tv_nsec -
				 (int64_t)(clock_boot_ns() - boot_ns),
			 text);
	return json_string(text);
}

static int patch_tree(json_t *result, const struct sbx_sandbox *row)
{
	json_t *tree = json_object_get(result, "tree"), *times = json_object_get(result, "times");
	json_t *counters =
		json_pack("{s:I, s:I, s:I, s:I, s:I}", "processes", (json_int_t)row->processes,
			  "peak", (json_int_t)row->live_processes_peak, "killed",
			  (json_int_t)row->killed, "survivors", (json_int_t)row->live_processes,
			  "cgroup_escapes", (json_int_t)row->escapes);
	int rc = json_object_update(tree, counters);

	json_decref(counters);
	rc |= json_object_set(times, "deadline_ns",
			      json_object_get(json_object_get(json_object_get(result, "limits"),
							      limit_table[LIMIT_WALL].name),
					      "value"));
	if (row->flags & SBX_ROOT_EXITED) {
		rc |= json_object_set_new(times, "ended", boot_time_text(row->root_exit_ns));
		rc |= json_object_set_new(times, "wall_ns",
					  json_integer((json_int_t)(row->root_exit_ns -
								    row->root_start_ns)));
	}
	return rc;
}

/* What was in the keeper's memory is gone; a spill is still there. */
static int patch_output(json_t *result, const struct rundir *d, const char *stream,
			const char *file)
{
	struct stat st;
	json_t *spill = fstatat(d->fd, file, &st, AT_SYMLINK_NOFOLLOW)
				? json_null()
				: json_sprintf("%s/%s", d->path, file);

	return json_object_set_new(json_object_get(result, "output"), stream,
				   json_pack("{s:n, s:n, s:b, s:b, s:o}", "bytes", "text",
					     "truncated", 1, "lossy", 0, "spill", spill));
}

uint64_t receipt_execs(const struct sbx_sandbox *row)
{
	return row->execs > row->max_execs ? row->execs : row->max_execs + 1;
}

/* Which budget was crossed, next to what the kernel counted. */
static int patch_limit(json_t *result, const struct verdict *v, const struct sbx_sandbox *row)
{
	enum limit_id id = v->killed_by == KILLED_BY_EXECS ? LIMIT_EXECS : LIMIT_DEPTH;
	json_t *asked = json_object_get(json_object_get(result, "limits"), limit_table[id].name);
	uint64_t actual = id == LIMIT_EXECS ? receipt_execs(row) : (uint64_t)row->max_depth + 1;

	return json_object_set_new(result, "limit",
				   json_pack("{s:s, s:O, s:I, s:s}", "kind", limit_table[id].name,
					     "configured", json_object_get(asked, "value"),
					     "actual", (json_int_t)actual, "unit",
					     limit_table[id].unit));
}

int receipt_apply(const struct receipt *receipt, json_t *result, const struct rundir *d)
{
	struct verdict v = judge(receipt);
	const char *killed_by = killed_by_name(v.killed_by);
	json_t *end =
		json_pack("{s:s, s:o, s:o, s:b, s:s?, s:s}", "outcome", outcome_name(v.outcome),
			  "exit_code", known(v.exit_code), "signal", known(v.signal), "core_dumped",
			  v.core_dumped, "killed_by", killed_by, "diagnostic", v.diagnostic);
	int rc = json_object_update(result, end);

	json_decref(end);
	if (v.outcome == OUTCOME_COULD_NOT_RUN)
		rc |= json_object_set_new(result, "launch", json_null());
	if (receipt->has_row)
		rc |= patch_tree(result, &receipt->row);
	if (v.outcome == OUTCOME_LIMIT_EXCEEDED)
		rc |= patch_limit(result, &v, &receipt->row);
	rc |= patch_output(result, d, "stdout", "stdout.spill");
	rc |= patch_output(result, d, "stderr", "stderr.spill");
	return rc ? -ENOMEM : 0;
}
