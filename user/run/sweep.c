/* SPDX-License-Identifier: Apache-2.0 */
#include "run/sweep.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "kern/cgroup.h"
#include "kern/kern.h"
#include "run/meta.h"
#include "run/result.h"

#define KILL_BUDGET_NS (2ULL * 1000000000)
#define KILL_PAUSE_NS (2 * 1000000)

/* What a sweep knows about one run. */
struct evidence {
	bool has_row;
	struct sbx_sandbox row;
	bool this_boot;
};

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

	v.diagnostic = "the keeper died; the end is known from the kernel's receipt";
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

static struct verdict judge(const struct evidence *e)
{
	struct verdict v = { .exit_code = -1, .signal = -1 };

	if (!e->has_row || !(e->row.flags & SBX_ROOT_EXITED)) {
		v.diagnostic = e->this_boot ? "the keeper died and left no evidence of the end"
					    : "the host was restarted while it ran";
		return v;
	}
	v = from_status(e->row.root_status);
	if (e->row.flags & (SBX_EXECS_HIT | SBX_DEPTH_HIT)) {
		v.outcome = OUTCOME_LIMIT_EXCEEDED;
		v.killed_by = e->row.flags & SBX_EXECS_HIT ? KILLED_BY_EXECS : KILLED_BY_DEPTH;
	} else if (e->row.flags & SBX_ANCESTOR_DIED && v.signal == SIGKILL) {
		v.outcome = OUTCOME_CANCELLED;
		v.killed_by = KILLED_BY_ANCESTOR;
		v.diagnostic = "the sandbox around it ended";
	} else if (e->row.flags & SBX_OWNER_DIED && v.signal == SIGKILL) {
		v.outcome = OUTCOME_OWNER_EXITED;
		v.killed_by = KILLED_BY_OWNER;
		v.diagnostic = "the keeper died, and its tree with it";
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

/* Which budget was crossed, next to what the kernel counted. */
static int patch_limit(json_t *result, const struct verdict *v, const struct sbx_sandbox *row)
{
	enum limit_id id = v->killed_by == KILLED_BY_EXECS ? LIMIT_EXECS : LIMIT_DEPTH;
	json_t *asked = json_object_get(json_object_get(result, "limits"), limit_table[id].name);
	uint64_t actual = id == LIMIT_EXECS ? row->execs : (uint64_t)row->max_depth + 1;

	return json_object_set_new(result, "limit",
				   json_pack("{s:s, s:O, s:I, s:s}", "kind", limit_table[id].name,
					     "configured", json_object_get(asked, "value"),
					     "actual", (json_int_t)actual, "unit",
					     limit_table[id].unit));
}

/* Patches the result at launch, in place, with what the evidence says about the end. */
static int patch_result(json_t *result, const struct evidence *e, const struct rundir *d)
{
	struct verdict v = judge(e);
	const char *killed_by = killed_by_name(v.killed_by);
	json_t *end =
		json_pack("{s:s, s:o, s:o, s:b, s:s?, s:s}", "outcome", outcome_name(v.outcome),
			  "exit_code", known(v.exit_code), "signal", known(v.signal), "core_dumped",
			  v.core_dumped, "killed_by", killed_by, "diagnostic", v.diagnostic);
	int rc = json_object_update(result, end);

	json_decref(end);
	if (e->has_row)
		rc |= patch_tree(result, &e->row);
	if (v.outcome == OUTCOME_LIMIT_EXCEEDED)
		rc |= patch_limit(result, &v, &e->row);
	rc |= patch_output(result, d, "stdout", "stdout.spill");
	rc |= patch_output(result, d, "stderr", "stderr.spill");
	return rc ? -ENOMEM : 0;
}

/* Whether the group at this path is the incarnation that was recorded: its id is its inode number. */
static bool same_group(const struct meta *m)
{
	struct stat st;

	return m->cgroup_path && !stat(m->cgroup_path, &st) && st.st_ino == m->cgroup_id;
}

static void kill_rows(struct kern *k, uint64_t id, struct evidence *e)
{
	const struct timespec pause = { .tv_nsec = KILL_PAUSE_NS };
	uint64_t end_ns = clock_boot_ns() + KILL_BUDGET_NS;

	e->has_row = !kern_sandbox_read(k, id, &e->row);
	if (e->has_row && e->row.live)
		kern_sandbox_set_dying(k, id);
	while (e->has_row && e->row.live && clock_boot_ns() < end_ns) {
		kern_signal_tree(k, id, SIGKILL);
		nanosleep(&pause, NULL);
		e->has_row = !kern_sandbox_read(k, id, &e->row);
	}
}

static int write_result(struct rundir *d, const struct meta *m, const struct evidence *e,
			struct err *err)
{
	int rc = patch_result(m->result, e, d);

	if (rc)
		return err_set(err, rc, "describe run '%s'", d->id);
	rc = rundir_write_json(d, "result.json", m->result, err);
	if (rc)
		return rc;
	d->reader = m->reader;
	d->reader_gid = m->reader_gid;
	return rundir_publish(d, err);
}

/* The mount point of --workdir new: what was mounted there went with the run's mount namespace. */
static void remove_workdir(const struct rundir *d)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/work/%s", rundir_top(), d->id);
	rmdir(path);
}

/* Group, row and socket, in the order in which a second sweep can still find them. */
static int release(struct rundir *d, struct kern *k, uint64_t id, const struct meta *m,
		   const struct evidence *e, struct err *err)
{
	int rc = 0;

	if (m->this_boot && same_group(m))
		rc = cgroup_sweep(m->cgroup_path, err);
	if (rc)
		return rc;
	if (e->has_row && e->row.live)
		return err_say(err, ERR_CLEANUP, -EBUSY,
			       "run '%s': %llu processes cannot be killed yet", d->id,
			       (unsigned long long)e->row.live_processes);
	if (k)
		kern_sandbox_delete(k, id);
	remove_workdir(d);
	rundir_release(d);
	return 0;
}

static int sweep_locked(struct rundir *d, struct kern *k, struct err *err)
{
	struct evidence e = { 0 };
	struct meta m;
	uint64_t id;
	int rc = kern_id_parse(d->id, &id);

	if (rc)
		return err_set(err, rc, "'%s' is not the id of a run", d->id);
	rc = meta_read(&m, d, err);
	if (rc && rc != -ENOENT)
		return rc;
	e.this_boot = m.this_boot;
	if (m.this_boot && same_group(&m))
		cgroup_sweep(m.cgroup_path, NULL);
	if (k && (m.this_boot || rc))
		kill_rows(k, id, &e);
	if (rc) {
		/* It never got as far as a group's record: there is nothing to tell. */
		if (k)
			kern_sandbox_delete(k, id);
		remove_workdir(d);
		return rundir_remove(d);
	}
	if (rundir_state(d) != RUNDIR_ENDED)
		rc = write_result(d, &m, &e, err);
	if (!rc)
		rc = release(d, k, id, &m, &e, err);
	meta_done(&m);
	return rc;
}

static int sweep_with(struct rundir *d, struct kern *k, struct err *err)
{
	int rc;

	if (flock(d->fd, LOCK_EX | LOCK_NB))
		return err_say(err, ERR_BUSY, -EBUSY, "run '%s' is in the hands of its keeper",
			       d->id);
	rc = sweep_locked(d, k, err);
	if (d->fd >= 0)
		flock(d->fd, LOCK_UN);
	return rc;
}

int sweep_run(struct rundir *d, struct err *err)
{
	struct kern *k = NULL;
	int rc;

	/* Without the kernel half there are no rows to act on, and the rest still is. */
	if (kern_open(&k, NULL))
		k = NULL;
	rc = sweep_with(d, k, err);
	kern_close(k);
	return rc;
}

struct sweep {
	struct kern *kern;
	bool opened;
	int swept;
};

static int sweep_one(void *arg, struct rundir *d, enum rundir_state state)
{
	struct sweep *s = arg;

	if (state != RUNDIR_DEAD && !(state == RUNDIR_ENDED && rundir_unreleased(d)))
		return 0;
	if (!s->opened && kern_open(&s->kern, NULL))
		s->kern = NULL;
	s->opened = true;
	s->swept += !sweep_with(d, s->kern, NULL);
	return 0;
}

int sweep_dead(void)
{
	struct sweep s = { 0 };
	int rc = rundir_each(sweep_one, &s);

	kern_close(s.kern);
	return rc < 0 ? rc : s.swept;
}
