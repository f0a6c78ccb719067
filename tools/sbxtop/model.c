/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model_past.h"

int model_new(struct model **out, struct err *err)
{
	struct model *m = calloc(1, sizeof(*m));

	*out = m;
	if (m)
		m->past = model_past_new();
	if (!m || !m->past) {
		free(m);
		*out = NULL;
		return err_set(err, -ENOMEM, "show the runs");
	}
	m->sort = column_find("age");
	m->reverse = true; /* the newest first */
	m->follow = true;
	return 0;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	model_past_free(m->past);
	free(m->runs);
	free(m->process_cpu);
	free(m->lines);
	free(m);
}

/* ---- which ---------------------------------------------------------------------------------- */

static struct model_run *find_run(const struct model *m, uint64_t number)
{
	for (size_t low = 0, high = m->run_count; low < high;) {
		size_t middle = (low + high) / 2;
		uint64_t its = m->runs[middle].row.run->number;

		if (its == number)
			return &m->runs[middle];
		if (its < number)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool contains(const char *text, const char *word)
{
	return text && strcasestr(text, word);
}

static bool matches(const struct model *m, const struct model_run *r)
{
	const struct glance *g = r->row.run;
	char owner[COLUMN_TEXT];

	if (!m->filter[0])
		return true;
	column_find("owner")->text(&r->row, owner, sizeof(owner));
	if (contains(g->id, m->filter) || contains(g->name, m->filter) ||
	    contains(g->command, m->filter) || contains(owner, m->filter) ||
	    contains(glance_state_names[g->state], m->filter))
		return true;
	for (size_t i = r->first; i < r->first + r->count; i++)
		if (contains(m->look.processes[i].comm, m->filter))
			return true;
	return false;
}

/* --id shows what is inside of it, too. */
static bool inside_of(const struct model *m, const struct model_run *r, const char *id)
{
	for (int i = 0; r && i <= SBX_MAX_NEST; i++) {
		if (!strncmp(r->row.run->id, id, strlen(id)))
			return true;
		r = r->row.run->parent ? find_run(m, r->row.run->parent) : NULL;
	}
	return false;
}

static bool wanted(const struct model *m, const struct model_run *r)
{
	const char *scope = r->row.run->scope;

	if (m->only_id && !inside_of(m, r, m->only_id))
		return false;
	if (m->only_scope && (!scope || strcmp(scope, m->only_scope)))
		return false;
	return matches(m, r);
}

static bool is_folded(const struct model *m, uint64_t number)
{
	for (size_t i = 0; i < m->folded_count; i++)
		if (m->folded[i] == number)
			return !m->fold_all;
	return m->fold_all;
}

/* ---- a look --------------------------------------------------------------------------------- */

static int make_room(struct model *m, const struct model_look *look)
{
	size_t lines = look->run_count + look->process_count;
	void *runs = realloc(m->runs, (look->run_count + 1) * sizeof(*m->runs));
	void *cpu, *rows;

	if (runs)
		m->runs = runs;
	cpu = realloc(m->process_cpu, (look->process_count + 1) * sizeof(*m->process_cpu));
	if (cpu)
		m->process_cpu = cpu;
	rows = realloc(m->lines, (lines + 1) * sizeof(*m->lines));
	if (rows)
		m->lines = rows;
	return runs && cpu && rows ? 0 : -ENOMEM;
}

/* Both are by sandbox. */
static void assign_processes(struct model *m)
{
	size_t at = 0;

	for (size_t i = 0; i < m->run_count; i++) {
		struct model_run *r = &m->runs[i];

		while (at < m->look.process_count &&
		       m->look.processes[at].sandbox < r->row.run->number)
			at++;
		r->first = at;
		while (at < m->look.process_count &&
		       m->look.processes[at].sandbox == r->row.run->number)
			at++;
		r->count = at - r->first;
	}
}

int model_take(struct model *m, const struct model_look *look)
{
	m->run_count = m->line_count = 0;
	if (make_room(m, look))
		return -ENOMEM;
	m->look = *look;
	for (size_t i = 0; i < look->run_count; i++)
		m->runs[m->run_count++] =
			(struct model_run){ .row.run = look->runs[i], .parent = MODEL_NO_PROCESS };
	assign_processes(m);
	model_past_rates(m->past, m);
	return model_order(m);
}

/* Of each run whether it is shown, and inside of which. */
void model_choose(struct model *m)
{
	for (size_t i = 0; i < m->run_count; i++) {
		struct model_run *r = &m->runs[i];

		r->shown = wanted(m, r);
		r->folded = is_folded(m, r->row.run->number);
		r->parent = MODEL_NO_PROCESS;
	}
	for (size_t i = 0; i < m->run_count; i++) {
		uint64_t parent = m->runs[i].row.run->parent;
		const struct model_run *around = parent ? find_run(m, parent) : NULL;

		if (around && around->shown)
			m->runs[i].parent = (uint32_t)(around - m->runs);
	}
}

/* ---- what is chosen ------------------------------------------------------------------------- */

const struct model_line *model_selected(const struct model *m)
{
	return m->cursor < m->line_count ? &m->lines[m->cursor] : NULL;
}

const struct model_run *model_selected_run(const struct model *m)
{
	const struct model_line *line = model_selected(m);

	return line ? &m->runs[line->run] : NULL;
}

static uint32_t pid_of(const struct model *m, const struct model_line *line)
{
	return line->process == MODEL_NO_PROCESS ? 0 : m->look.processes[line->process].pid;
}

static void remember(struct model *m)
{
	const struct model_line *line = model_selected(m);

	m->selected_run = line ? m->runs[line->run].row.run->number : 0;
	m->selected_pid = line ? pid_of(m, line) : 0;
}

/* The cursor goes where what was selected is now; to its run when it is gone or folded away. */
void model_find_selected(struct model *m)
{
	size_t found = m->line_count;

	for (size_t i = 0; m->follow && m->selected_run && i < m->line_count; i++) {
		const struct model_line *line = &m->lines[i];

		if (m->runs[line->run].row.run->number != m->selected_run)
			continue;
		if (found == m->line_count || pid_of(m, line) == m->selected_pid)
			found = i;
		if (pid_of(m, line) == m->selected_pid)
			break;
	}
	if (found < m->line_count)
		m->cursor = found;
	if (m->cursor >= m->line_count)
		m->cursor = m->line_count ? m->line_count - 1 : 0;
	remember(m);
}

void model_move(struct model *m, long by)
{
	long to = (long)m->cursor + by, last = (long)m->line_count - 1;

	m->cursor = to < 0 || last < 0 ? 0 : (size_t)(to > last ? last : to);
	remember(m);
}

void model_scroll(struct model *m, size_t rows)
{
	if (!rows)
		rows = 1;
	if (m->cursor < m->top)
		m->top = m->cursor;
	if (m->cursor >= m->top + rows)
		m->top = m->cursor - rows + 1;
	if (m->top + rows > m->line_count)
		m->top = m->line_count > rows ? m->line_count - rows : 0;
}

void model_fold(struct model *m, bool folded)
{
	const struct model_run *run = model_selected_run(m);
	uint64_t number = run ? run->row.run->number : 0;
	size_t i = 0;

	if (!run || is_folded(m, number) == folded)
		return;
	while (i < m->folded_count && m->folded[i] != number)
		i++;
	if (i < m->folded_count)
		m->folded[i] = m->folded[--m->folded_count];
	else if (m->folded_count < MODEL_FOLDED_MAX)
		m->folded[m->folded_count++] = number;
	m->selected_pid = folded ? 0 : m->selected_pid;
	model_order(m);
}

void model_fold_all(struct model *m, bool folded)
{
	m->fold_all = folded;
	m->folded_count = 0;
	model_order(m);
}

void model_sort_next(struct model *m, int by)
{
	size_t at = (size_t)(m->sort - columns);

	m->sort = &columns[(at + column_count + (size_t)(by < 0 ? -1 : 1)) % column_count];
	model_order(m);
}

/* ---- sums ----------------------------------------------------------------------------------- */

static void sum(uint64_t *to, uint64_t value)
{
	if (value < GLANCE_NONE)
		*to += value;
}

struct model_sums model_sums(const struct model *m)
{
	struct model_sums s = { 0 };

	for (size_t i = 0; i < m->run_count; i++) {
		const struct model_run *r = &m->runs[i];
		const struct glance *g = r->row.run;

		if (!r->shown)
			continue;
		s.runs++;
		s.reduced += g->reduced > 0;
		sum(&s.lost, g->events_dropped);
		sum(&s.lost, g->denials_dropped);
		sum(&s.denials, g->denials);
		if (r->parent != MODEL_NO_PROCESS)
			continue;
		sum(&s.processes, g->processes);
		sum(&s.threads, g->threads);
	}
	sum(&s.lost, m->look.processes_dropped);
	return s;
}
