/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"

/* Seven descriptors a run: as many as we may have. Nothing is started that would inherit them. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int watch_open(struct watch *w, struct err *err)
{
	int rc;

	*w = (struct watch){ 0 };
	raise_descriptors();
	rc = survey_new(&w->survey, err);
	if (!rc)
		rc = model_new(&w->model, err);
	if (rc)
		watch_close(w);
	return rc;
}

void watch_close(struct watch *w)
{
	model_free(w->model);
	survey_free(w->survey);
	free(w->runs);
	*w = (struct watch){ 0 };
}

static int make_room(struct watch *w, size_t count)
{
	const struct glance **runs;

	if (count <= w->room)
		return 0;
	runs = realloc(w->runs, 2 * count * sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	w->runs = runs;
	w->room = 2 * count;
	return 0;
}

void watch_look(struct watch *w)
{
	const struct view_processes *processes;
	struct model_look look = { 0 };
	size_t count;

	w->err = (struct err){ 0 };
	survey_look(w->survey, &w->err);
	count = survey_count(w->survey);
	if (make_room(w, count)) {
		err_set(&w->err, -ENOMEM, "show %zu runs", count);
		count = 0;
	}
	for (size_t i = 0; i < count; i++)
		w->runs[i] = survey_run(w->survey, i);
	processes = survey_processes(w->survey);
	look = (struct model_look){ .now_ns = clock_boot_ns(),
				    .runs = w->runs,
				    .run_count = count,
				    .processes = processes->list,
				    .process_count = processes->count,
				    .processes_dropped = survey_processes_dropped(w->survey) };
	if (model_take(w->model, &look))
		err_set(&w->err, -ENOMEM, "show %zu runs", count);
}

void watch_want_all(struct watch *w)
{
	for (size_t i = 0; i < survey_count(w->survey); i++)
		survey_want(w->survey, survey_run(w->survey, i)->number, SURVEY_STATUS);
}

void watch_want_shown(struct watch *w, size_t rows, bool denials)
{
	const struct model *m = w->model;
	const struct model_run *selected = model_selected_run(m);

	survey_want_none(w->survey);
	for (size_t i = m->top; i < m->line_count && i < m->top + rows; i++)
		survey_want(w->survey, m->runs[m->lines[i].run].row.run->number, SURVEY_STATUS);
	if (selected)
		survey_want(w->survey, selected->row.run->number,
			    SURVEY_STATUS | (denials ? SURVEY_DENIALS : 0));
}
