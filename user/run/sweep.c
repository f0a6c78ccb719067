/* SPDX-License-Identifier: Apache-2.0 */
#include "run/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "kern/cgroup.h"
#include "kern/cgroup_find.h"
#include "kern/denials.h"
#include "kern/files.h"
#include "kern/kern.h"
#include "kern/kill.h"
#include "kern/strangers.h"
#include "run/meta.h"
#include "run/receipt.h"

#define KILL_BUDGET_NS (2ULL * 1000000000)
#define KILL_PAUSE_NS (2 * 1000000)

/* Whether the group at this path is the incarnation that was recorded: its id is its inode number. */
static bool same_group(const struct meta *m)
{
	struct stat st;

	return m->cgroup_path && !stat(m->cgroup_path, &st) && st.st_ino == m->cgroup_id;
}

static void kill_rows(struct kern *k, uint64_t id, const char *group, struct receipt *e)
{
	const struct timespec pause = { .tv_nsec = KILL_PAUSE_NS };
	uint64_t end_ns = clock_boot_ns() + KILL_BUDGET_NS;
	struct kill_state state = { 0 };

	e->has_row = !kern_sandbox_read(k, id, &e->row);
	if (e->has_row && e->row.live)
		kern_sandbox_set_dying(k, id);
	while (e->has_row && e->row.live && clock_boot_ns() < end_ns) {
		kill_round(k, id, group, &state);
		nanosleep(&pause, NULL);
		e->has_row = !kern_sandbox_read(k, id, &e->row);
	}
}

/* A keeper owns what it launched; what it attached to goes on without it. */
static bool outlives(const struct sbx_sandbox *row)
{
	return row->live && !(row->flags & (SBX_KILL_WITH_KEEPER | SBX_DYING));
}

static int write_result(struct rundir *d, const struct meta *m, const struct receipt *e,
			struct err *err)
{
	int rc = receipt_apply(e, m->result, d);

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

static int still_alive(const struct rundir *d, const struct sbx_sandbox *row, struct err *err)
{
	return err_say(err, ERR_CLEANUP, -EBUSY, "run '%s': %llu processes cannot be killed yet",
		       d->id, (unsigned long long)row->live_processes);
}

/* Strangers in the group are told from members, who are dead by now, by the row; without one everybody in it counts as
 * a member. */
static int sweep_group(struct kern *k, uint64_t id, const char *path, struct err *err)
{
	struct sbx_sandbox row;

	bool known = k && !kern_sandbox_read(k, id, &row);

	if (known && strangers_evict(k, id, path) > 0)
		return err_say(err, ERR_CLEANUP, -EBUSY,
			       "group '%s' holds processes of others, which cannot be moved", path);
	return cgroup_sweep(path, !known, err);
}

static void delete_rows(struct kern *k, uint64_t id)
{
	struct sbx_sandbox row;
	bool files = !kern_sandbox_read(k, id, &row) && (row.files_generation || row.files_next);

	denials_forget(k, id);
	kern_sandbox_delete(k, id);
	if (files)
		files_sweep(k);
}

/* Group, row and socket, in the order in which a second sweep can still find them. */
static int release(struct rundir *d, struct kern *k, uint64_t id, const struct meta *m,
		   const struct receipt *e, struct err *err)
{
	int rc = 0;

	if (m->this_boot && same_group(m))
		rc = sweep_group(k, id, m->cgroup_path, err);
	if (rc)
		return rc;
	if (e->has_row && e->row.live)
		return still_alive(d, &e->row, err);
	if (k)
		delete_rows(k, id);
	remove_workdir(d);
	rundir_release(d);
	return 0;
}

/* Nobody is in a group that was made and never entered: whoever is in it now is a stranger. */
static bool unpopulated(const char *path)
{
	char file[PATH_MAX + 16], text[256];

	snprintf(file, sizeof(file), "%s/cgroup.events", path);
	return io_read_file(AT_FDCWD, file, text, sizeof(text)) > 0 && strstr(text, "populated 0");
}

/* The keeper died before it could record anything: what there is has the run's name. */
static void sweep_unrecorded(struct rundir *d, struct kern *k, uint64_t id)
{
	struct receipt e = { 0 };
	char name[32], path[PATH_MAX];
	uint64_t group;

	if (k && !kern_sandbox_read(k, id, &e.row) && outlives(&e.row))
		kern_let_go(k, id);
	else if (k)
		kill_rows(k, id, NULL, &e);
	snprintf(name, sizeof(name), "sbx-%s", d->id);
	if (!cgroup_find(name, path, sizeof(path), &group) &&
	    ((e.has_row && e.row.cgroup_id == group) || unpopulated(path)))
		sweep_group(k, id, path, NULL);
	if (k)
		delete_rows(k, id);
	remove_workdir(d);
}

static int sweep_recorded(struct rundir *d, struct kern *k, uint64_t id, const struct meta *m,
			  struct err *err)
{
	struct receipt e = { .this_boot = m->this_boot, .attached = m->attached };
	int rc = 0;

	if (m->attached && m->this_boot && !k)
		return err_say(err, ERR_BUSY, -EBUSY, "run '%s' is attached", d->id);
	if (m->attached && m->this_boot && !kern_sandbox_read(k, id, &e.row) && outlives(&e.row))
		return err_say(err, ERR_BUSY, -EINPROGRESS,
			       "run '%s' is attached, has lost its keeper and goes on: sbxctl kill "
			       "ends it, sbxctl detach lets it go",
			       d->id);
	if (k && m->this_boot)
		kill_rows(k, id, same_group(m) ? m->cgroup_path : NULL, &e);
	if (m->this_boot && same_group(m))
		sweep_group(k, id, m->cgroup_path, NULL);
	if (rundir_state(d) != RUNDIR_ENDED)
		rc = write_result(d, m, &e, err);
	return rc ? rc : release(d, k, id, m, &e, err);
}

static int sweep_locked(struct rundir *d, struct kern *k, struct err *err)
{
	struct meta m;
	uint64_t id;
	int rc = kern_id_parse(d->id, &id);

	if (rc)
		return err_set(err, rc, "'%s' is not the id of a run", d->id);
	rc = meta_read(&m, d, err);
	if (rc == -ENOENT) {
		sweep_unrecorded(d, k, id);
		return rundir_remove(d);
	}
	if (rc)
		return rc;
	rc = sweep_recorded(d, k, id, &m, err);
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

static int let_go(struct rundir *d, struct kern *k, uint64_t id, struct err *err)
{
	struct receipt e = { .this_boot = true, .attached = true, .let_go = true };
	struct meta m;
	int rc = meta_read(&m, d, err);

	if (rc)
		return rc;
	rc = kern_let_go(k, id);
	if (rc)
		rc = err_set(err, rc, "let run '%s' go", d->id);
	else
		e.has_row = !kern_sandbox_read(k, id, &e.row);
	if (!rc)
		rc = write_result(d, &m, &e, err);
	if (!rc) {
		delete_rows(k, id);
		rundir_release(d);
	}
	meta_done(&m);
	return rc;
}

int sweep_let_go(struct rundir *d, struct err *err)
{
	struct kern *k;
	uint64_t id;
	int rc = kern_id_parse(d->id, &id);

	if (rc)
		return err_set(err, rc, "'%s' is not the id of a run", d->id);
	rc = kern_open(&k, err);
	if (rc)
		return rc;
	if (flock(d->fd, LOCK_EX | LOCK_NB))
		rc = err_say(err, ERR_BUSY, -EBUSY, "run '%s' is in the hands of its keeper",
			     d->id);
	else
		rc = let_go(d, k, id, err);
	kern_close(k);
	return rc;
}

int sweep_kill(const struct rundir *d, struct err *err)
{
	struct receipt e = { 0 };
	struct kern *k;
	uint64_t id;
	int rc = kern_id_parse(d->id, &id);

	if (rc)
		return err_set(err, rc, "'%s' is not the id of a run", d->id);
	rc = kern_open(&k, err);
	if (rc)
		return rc;
	kill_rows(k, id, NULL, &e);
	kern_close(k);
	return e.has_row && e.row.live ? still_alive(d, &e.row, err) : 0;
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
	int rc = geteuid() ? 0 : rundir_each(sweep_one, &s);

	kern_close(s.kern);
	return rc < 0 ? rc : s.swept;
}
