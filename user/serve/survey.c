/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/survey.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/meta.h"
#include "serve/survey_state.h"

#define LIST_EVERY_NS 2000000000ULL /* of directories, when runs come and go all the time */
#define META_TRIES 50		    /* looks at a run that has no record yet */
#define LIMITS_EVERY 8		    /* looks between two readings of a group's limits */

static int by_number(const void *a, const void *b)
{
	const struct survey_run *x = a, *y = b;

	return x->glance.number < y->glance.number ? -1 : x->glance.number > y->glance.number;
}

struct survey_run *survey_find(struct survey *s, uint64_t number)
{
	size_t low = 0, high = s->ordered;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->runs[middle].glance.number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->ordered && s->runs[low].glance.number == number ? &s->runs[low] : NULL;
}

static void run_done(struct survey_run *r)
{
	survey_hang_up(r);
	cgroup_view_close(&r->groups);
	json_decref(r->status);
	json_decref(r->processes);
	json_decref(r->denials);
	glance_done(&r->glance);
}

static struct survey_run *add(struct survey *s, const char *id, uint64_t number)
{
	struct survey_run fresh = { .keeper.fd = -1 };

	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 64;
		struct survey_run *runs = realloc(s->runs, room * sizeof(*runs));

		if (!runs)
			return NULL;
		s->runs = runs;
		s->room = room;
	}
	glance_init(&fresh.glance, id);
	fresh.glance.number = number;
	memset(&fresh.figures, 0xff, sizeof(fresh.figures));
	fresh.told_ns = s->now_ns;
	s->runs[s->count] = fresh;
	return &s->runs[s->count++];
}

/* A walk over a table that changes may bring a row twice. */
static void put_in_order(struct survey *s)
{
	size_t kept = 0;

	if (s->ordered == s->count)
		return;
	qsort(s->runs, s->count, sizeof(*s->runs), by_number);
	for (size_t i = 0; i < s->count; i++) {
		if (kept && s->runs[kept - 1].glance.number == s->runs[i].glance.number)
			run_done(&s->runs[i]);
		else if (kept++ != i)
			s->runs[kept - 1] = s->runs[i];
	}
	s->count = s->ordered = kept;
}

/* ---- the kernel half ------------------------------------------------------------------------ */

static int note_row(void *arg, const struct sbx_sandbox *row)
{
	struct survey *s = arg;
	struct survey_run *r = survey_find(s, row->id);
	char id[SBX_ID_LEN + 1];

	kern_id_text(row->id, id);
	if (!r)
		r = add(s, id, row->id);
	if (!r)
		return -ENOMEM;
	r->in_half = true;
	glance_row(&r->glance, row, s->now_ns);
	return 0;
}

static int look_at_half(struct survey *s, struct err *err)
{
	int rc;

	s->processes.count = 0;
	if (!s->kern)
		return 0;
	rc = view_sandboxes(s->kern, note_row, s);
	put_in_order(s);
	if (!rc)
		rc = view_processes(s->kern, &s->processes);
	return rc ? err_set(err, rc, "read the tables of the kernel half") : 0;
}

/* Nothing is loaded for a look, and nothing of ours holds up an unload. */
static void find_half(struct survey *s)
{
	if (s->kern && view_stale(s->kern)) {
		kern_close(s->kern);
		s->kern = NULL;
	}
	if (!s->kern && s->count && geteuid() == 0)
		kern_look(&s->kern, NULL);
}

/* ---- directories ---------------------------------------------------------------------------- */

static int note_directory(void *arg, struct rundir *d, enum rundir_state state)
{
	struct survey *s = arg;
	uint64_t number;

	/* A dead one that a sweep has left alone is an attached tree. */
	if (state == RUNDIR_ENDED || kern_id_parse(d->id, &number) || survey_find(s, number))
		return 0;
	return add(s, d->id, number) ? 0 : -ENOMEM;
}

/* A start changes the top directory. The list of a user is short, and says nothing of when it changes. */
static bool list_due(struct survey *s)
{
	bool changed, long_ago = s->now_ns - s->listed_ns >= LIST_EVERY_NS;
	struct stat st;

	if (stat(rundir_top(), &st))
		return false;
	changed = !s->looks || memcmp(&st.st_mtim, &s->top_changed, sizeof(st.st_mtim)) != 0;
	if (s->kern ? !(changed && long_ago) : !changed && (geteuid() == 0 || !long_ago))
		return false;
	s->top_changed = st.st_mtim;
	s->listed_ns = s->now_ns;
	return true;
}

/* ---- one run -------------------------------------------------------------------------------- */

/* meta.json is root's; it is written before the command is released. */
static void read_meta(struct survey_run *r)
{
	struct meta meta;
	struct rundir d;

	if (r->has_meta || r->meta_tries >= META_TRIES || geteuid() != 0)
		return;
	r->meta_tries++;
	if (rundir_open(&d, r->glance.id, NULL))
		return;
	if (!meta_read(&meta, &d, NULL)) {
		r->has_meta = true;
		glance_meta(&r->glance, meta.json);
		if (meta.cgroup_path)
			cgroup_view_open(&r->groups, meta.cgroup_path, meta.cgroup_id);
		meta_done(&meta);
	}
	rundir_close(&d);
}

/* A run is over when its row has gone; without one, when its keeper has. */
static bool over(const struct survey_run *r)
{
	if (r->in_half)
		return false;
	return r->keeper_dead || (r->glance.state == GLANCE_ENDED);
}

static void look_at_run(struct survey *s, struct survey_run *r, size_t i, bool was_in_half)
{
	struct timespec now;

	read_meta(r);
	if (r->groups.open) {
		bool limits = (s->looks + i) % LIMITS_EVERY == 0 ||
			      r->figures.tasks == CGROUP_VIEW_UNKNOWN;

		cgroup_view_read(&r->groups, limits, &r->figures);
		glance_groups(&r->glance, &r->figures);
	}
	survey_told(s, r);
	r->gone = over(r) || (was_in_half && !r->in_half);
	clock_gettime(CLOCK_REALTIME, &now);
	glance_tick(&r->glance, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

static void drop_gone(struct survey *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (s->runs[i].gone)
			run_done(&s->runs[i]);
		else if (i != kept++)
			s->runs[kept - 1] = s->runs[i];
	}
	s->count = s->ordered = kept;
}

/* ---- all ------------------------------------------------------------------------------------ */

int survey_new(struct survey **out, struct err *err)
{
	struct survey *s = calloc(1, sizeof(*s));

	*out = s;
	if (s)
		s->buf = malloc(PROTOCOL_MAX);
	if (s && s->buf)
		return 0;
	free(s);
	*out = NULL;
	return err_set(err, -ENOMEM, "look at the runs");
}

void survey_free(struct survey *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		run_done(&s->runs[i]);
	view_processes_done(&s->processes);
	kern_close(s->kern);
	free(s->runs);
	free(s->buf);
	free(s);
}

int survey_look(struct survey *s, struct err *err)
{
	int rc = 0;

	s->now_ns = clock_boot_ns();
	survey_hear(s);
	if (list_due(s))
		rc = rundir_each(note_directory, s);
	put_in_order(s);
	if (rc)
		return err_set(err, rc, "list '%s'", rundir_top());
	find_half(s);
	for (size_t i = 0; i < s->count; i++) {
		s->runs[i].gone = s->runs[i].in_half; /* until its row is seen */
		s->runs[i].in_half = false;
		glance_forget(&s->runs[i].glance);
	}
	rc = look_at_half(s, err);
	s->processes_dropped = 0;
	for (size_t i = 0; i < s->count; i++)
		look_at_run(s, &s->runs[i], i, s->runs[i].gone);
	drop_gone(s);
	for (size_t i = 0; !rc && i < s->count; i++)
		rc = survey_told_processes(s, &s->runs[i]);
	survey_ask(s);
	s->looks++;
	return rc;
}

void survey_want(struct survey *s, uint64_t run, unsigned int what)
{
	struct survey_run *r = survey_find(s, run);

	if (r)
		r->want |= what;
}

void survey_want_none(struct survey *s)
{
	for (size_t i = 0; i < s->count; i++)
		s->runs[i].want = 0;
}

size_t survey_count(const struct survey *s)
{
	return s->count;
}

const struct glance *survey_run(const struct survey *s, size_t i)
{
	return &s->runs[i].glance;
}

const json_t *survey_denials(const struct survey *s, uint64_t run)
{
	const struct survey_run *r = survey_find((struct survey *)s, run);

	return r ? r->denials : NULL;
}

const struct view_processes *survey_processes(const struct survey *s)
{
	return &s->processes;
}

uint64_t survey_processes_dropped(const struct survey *s)
{
	return s->processes_dropped;
}
