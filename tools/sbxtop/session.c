/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "act.h"
#include "base/clock.h"
#include "base/num.h"
#include "feed.h"
#include "keys.h"
#include "process.h"
#include "screen.h"
#include "view.h"

enum prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_DEADLINE, PROMPT_STOP, PROMPT_KILL };

struct session {
	struct watch *w;
	const struct options *o;
	struct grid grid;
	struct pane pane;
	struct feed feed;
	struct view view;
	enum prompt prompt;
	char prompt_text[96], input[MODEL_FILTER_MAX], notice[600];
	char asked_id[16]; /* of the run that a prompt is about */
	bool quit, look;
};

/* ---- panes ---------------------------------------------------------------------------------- */

static const char *known(const char *text)
{
	return *text ? text : NULL;
}

static void fill_process(struct session *s, const struct model_run *run)
{
	const struct model *m = s->w->model;
	const struct model_line *line = model_selected(m);
	struct process_facts facts = { 0 };
	struct pane_process p = { .now_ns = m->look.now_ns };

	if (line->process != MODEL_NO_PROCESS) {
		p.process = &m->look.processes[line->process];
		p.cpu_permille = m->process_cpu[line->process];
		process_read(p.process, &facts);
		p.arguments = known(facts.arguments);
		p.directory = known(facts.directory);
		p.executable = known(facts.executable);
		p.user = known(facts.user);
	}
	pane_process(&s->pane, run->row.run, &p);
}

static void fill_pane(struct session *s)
{
	const struct model_run *run = model_selected_run(s->w->model);

	if (s->pane.kind != PANE_EVENTS)
		feed_close(&s->feed);
	if (!run) {
		pane_clear(&s->pane);
		s->pane.title[0] = 0;
		return;
	}
	switch (s->pane.kind) {
	case PANE_DENIALS:
		pane_denials(&s->pane, run->row.run,
			     survey_denials(s->w->survey, run->row.run->number));
		return;
	case PANE_EVENTS:
		feed_follow(&s->feed, run->row.run->id);
		feed_poll(&s->feed);
		feed_pane(&s->feed, &s->pane);
		return;
	case PANE_PROCESS:
		fill_process(s, run);
		return;
	case PANE_LIMITS:
		pane_limits(&s->pane, run->row.run);
		return;
	case PANE_NONE:
		return;
	}
}

static void open_pane(struct session *s, enum pane_kind kind)
{
	s->pane.kind = kind;
	s->pane.top = s->pane.chosen = 0;
	s->look = kind == PANE_DENIALS; /* they have to be asked for */
}

static void scroll_pane(struct session *s, int by)
{
	size_t *at = s->pane.kind == PANE_DENIALS ? &s->pane.chosen : &s->pane.top;

	if (by > 0 || *at)
		*at += (size_t)by;
}

static void copy_hint(struct session *s)
{
	if (s->pane.kind != PANE_DENIALS || !s->pane.hint) {
		snprintf(s->notice, sizeof(s->notice), "%s",
			 "no hint is shown: d opens the denials of a run");
		return;
	}
	screen_copy(s->pane.hint);
	snprintf(s->notice, sizeof(s->notice), "copied: %s", s->pane.hint);
}

/* ---- actions -------------------------------------------------------------------------------- */

static void act(struct session *s, enum request_op op, uint64_t wall_ns, const char *done)
{
	struct err err = { 0 };

	if (act_on(s->asked_id, op, wall_ns, &err))
		snprintf(s->notice, sizeof(s->notice), "%s: %s", s->asked_id, err.text);
	else
		snprintf(s->notice, sizeof(s->notice), "%s: %s", s->asked_id, done);
	s->look = true;
}

/* The run under the cursor, by its id from now on: the list may move while somebody thinks. */
static bool ask_about_selected(struct session *s)
{
	const struct model_run *run = model_selected_run(s->w->model);

	if (!run) {
		snprintf(s->notice, sizeof(s->notice), "no run is selected");
		return false;
	}
	snprintf(s->asked_id, sizeof(s->asked_id), "%s", run->row.run->id);
	return true;
}

static void open_prompt(struct session *s, enum prompt prompt, const char *before,
			const char *after)
{
	if (prompt != PROMPT_FILTER && !ask_about_selected(s))
		return;
	s->prompt = prompt;
	s->input[0] = 0;
	snprintf(s->prompt_text, sizeof(s->prompt_text), "%s%s%s", before,
		 prompt == PROMPT_FILTER ? "" : s->asked_id, after);
}

static void act_now(struct session *s, enum request_op op, const char *done)
{
	if (ask_about_selected(s))
		act(s, op, 0, done);
}

static void set_deadline(struct session *s)
{
	struct err err = { 0 };
	uint64_t wall_ns;

	if (num_duration(s->input, &wall_ns, &err))
		snprintf(s->notice, sizeof(s->notice), "%s", err.text);
	else
		act(s, REQUEST_UPDATE, wall_ns, "its deadline is changed");
}

/* ---- prompts -------------------------------------------------------------------------------- */

static void answer(struct session *s, int key)
{
	bool yes = key == 'y' || key == 'Y';
	enum prompt prompt = s->prompt;

	s->prompt = PROMPT_NONE;
	if (!yes)
		snprintf(s->notice, sizeof(s->notice), "left alone");
	else if (prompt == PROMPT_STOP)
		act(s, REQUEST_STOP, 0, "asked to stop");
	else
		act(s, REQUEST_TERMINATE, 0, "killed");
}

static void end_input(struct session *s)
{
	enum prompt prompt = s->prompt;

	s->prompt = PROMPT_NONE;
	if (prompt == PROMPT_DEADLINE) {
		set_deadline(s);
		return;
	}
	snprintf(s->w->model->filter, sizeof(s->w->model->filter), "%s", s->input);
	model_order(s->w->model);
}

static void edit(struct session *s, int key)
{
	size_t len = strlen(s->input);

	if (key == KEYS_ESCAPE)
		s->prompt = PROMPT_NONE;
	else if (key == KEYS_ENTER)
		end_input(s);
	else if (key == KEYS_BACKSPACE && len)
		s->input[len - 1] = 0;
	else if (key >= ' ' && key < 0x7f && len + 1 < sizeof(s->input)) {
		s->input[len] = (char)key;
		s->input[len + 1] = 0;
	}
}

/* ---- keys ----------------------------------------------------------------------------------- */

static void move(struct session *s, enum keys_action action)
{
	struct model *m = s->w->model;
	long page = view_list_rows(&s->view, s->grid.rows) - 1;

	switch (action) {
	case KEYS_MOVE_UP:
		model_move(m, -1);
		return;
	case KEYS_MOVE_DOWN:
		model_move(m, 1);
		return;
	case KEYS_MOVE_PAGE_UP:
		model_move(m, -page);
		return;
	case KEYS_MOVE_PAGE_DOWN:
		model_move(m, page);
		return;
	case KEYS_MOVE_FIRST:
		model_move(m, -(long)m->line_count);
		return;
	case KEYS_MOVE_LAST:
		model_move(m, (long)m->line_count);
		return;
	default:
		return;
	}
}

static void arrange(struct session *s, enum keys_action action)
{
	struct model *m = s->w->model;

	switch (action) {
	case KEYS_FOLD:
	case KEYS_UNFOLD:
		model_fold(m, action == KEYS_FOLD);
		return;
	case KEYS_FOLD_ALL:
		model_fold_all(m, !m->fold_all);
		return;
	case KEYS_SORT_NEXT:
	case KEYS_SORT_BACK:
		model_sort_next(m, action == KEYS_SORT_NEXT ? 1 : -1);
		return;
	case KEYS_REVERSE:
		m->reverse = !m->reverse;
		model_order(m);
		return;
	case KEYS_FOLLOW:
		m->follow = !m->follow;
		return;
	default:
		move(s, action);
	}
}

static void see(struct session *s, enum keys_action action)
{
	switch (action) {
	case KEYS_PANE_DENIALS:
		open_pane(s, PANE_DENIALS);
		return;
	case KEYS_PANE_EVENTS:
		open_pane(s, PANE_EVENTS);
		return;
	case KEYS_PANE_PROCESS:
		open_pane(s, PANE_PROCESS);
		return;
	case KEYS_PANE_LIMITS:
		open_pane(s, PANE_LIMITS);
		return;
	case KEYS_PANE_CLOSE:
		open_pane(s, PANE_NONE);
		return;
	case KEYS_PANE_UP:
	case KEYS_PANE_DOWN:
		scroll_pane(s, action == KEYS_PANE_UP ? -1 : 1);
		return;
	default:
		arrange(s, action);
	}
}

static void do_action(struct session *s, enum keys_action action)
{
	switch (action) {
	case KEYS_STOP:
		open_prompt(s, PROMPT_STOP, "stop ", "? y or n ");
		return;
	case KEYS_KILL:
		open_prompt(s, PROMPT_KILL, "kill ", "? y or n ");
		return;
	case KEYS_DEADLINE:
		open_prompt(s, PROMPT_DEADLINE, "deadline of ", ", from its start (10m): ");
		return;
	case KEYS_FILTER:
		open_prompt(s, PROMPT_FILTER, "only runs with: ", "");
		return;
	case KEYS_FREEZE:
		act_now(s, REQUEST_FREEZE, "frozen");
		return;
	case KEYS_THAW:
		act_now(s, REQUEST_THAW, "thawed");
		return;
	case KEYS_COPY:
		copy_hint(s);
		return;
	case KEYS_LOOK:
		s->look = true;
		return;
	case KEYS_HELP:
		s->view.help = true;
		s->view.help_top = 0;
		return;
	case KEYS_QUIT:
		s->quit = true;
		return;
	default:
		see(s, action);
	}
}

static void help_key(struct session *s, int key)
{
	enum keys_action action = keys_find(key);
	int by = action == KEYS_MOVE_DOWN || action == KEYS_MOVE_PAGE_DOWN ? 1
		 : action == KEYS_MOVE_UP || action == KEYS_MOVE_PAGE_UP   ? -1
									   : 0;

	s->view.help = by != 0;
	s->view.help_top += by;
	if (s->view.help_top < 0 || s->view.help_top > (int)keys_count)
		s->view.help_top -= by;
}

static void on_key(struct session *s, int key)
{
	if (key == KEYS_RESIZE)
		return;
	s->notice[0] = 0;
	if (s->view.help)
		help_key(s, key);
	else if (s->prompt == PROMPT_STOP || s->prompt == PROMPT_KILL)
		answer(s, key);
	else if (s->prompt)
		edit(s, key);
	else
		do_action(s, keys_find(key));
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void draw(struct session *s)
{
	int rows, width;

	screen_size(&rows, &width);
	if (rows != s->grid.rows || width != s->grid.columns)
		grid_resize(&s->grid, rows, width);
	fill_pane(s);
	s->view.prompt = s->prompt ? s->prompt_text : NULL;
	s->view.input = s->input;
	s->view.notice = s->notice[0] ? s->notice : NULL;
	s->view.error = s->w->err.code ? s->w->err.text : NULL;
	view_draw(&s->view, &s->grid);
	screen_show(&s->grid);
}

#define ANSWER_MS 100 /* patience with keepers after the first look, and after an action */

static void look(struct session *s)
{
	size_t rows = s->grid.rows > 0 ? (size_t)s->grid.rows : 64;

	watch_want_shown(s->w, rows, s->pane.kind == PANE_DENIALS);
	watch_look(s->w);
	if (!s->look)
		return;
	/* Somebody waits for what this shows. */
	watch_want_shown(s->w, rows, s->pane.kind == PANE_DENIALS);
	watch_look(s->w);
	survey_settle(s->w->survey, ANSWER_MS);
	watch_look(s->w);
	s->look = false;
}

static int ms_until(uint64_t due_ns)
{
	uint64_t now = clock_boot_ns();

	return due_ns > now ? (int)((due_ns - now) / 1000000) + 1 : 0;
}

int session_run(struct watch *w, const struct options *o, struct err *err)
{
	struct session s = { .w = w, .o = o, .look = true };
	uint64_t due_ns = 0;
	int rc = screen_open(o->monochrome, err), key;

	if (rc)
		return rc;
	s.view = (struct view){ .model = w->model, .pane = &s.pane };
	while (!s.quit) {
		if (s.look || clock_boot_ns() >= due_ns) {
			look(&s);
			due_ns = clock_boot_ns() + o->delay_ns;
		}
		draw(&s);
		key = screen_key(ms_until(due_ns));
		if (key)
			on_key(&s, key);
	}
	screen_close();
	feed_close(&s.feed);
	pane_done(&s.pane);
	grid_done(&s.grid);
	return 0;
}
