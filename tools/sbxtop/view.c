/* SPDX-License-Identifier: Apache-2.0 */
#include "view.h"

#include <stdio.h>
#include <string.h>

#include "keys.h"

#define HEAD_ROWS 3
#define FOOT_ROWS 1

/* Which columns, by the width of the screen. */
static const struct {
	const char *name;
	int from;
} layout[] = {
	{ "id", 0 },	 { "name", 140 },   { "state", 0 }, { "tier", 0 },     { "owner", 110 },
	{ "age", 0 },	 { "deadline", 0 }, { "cpu%", 0 },  { "cpu", 160 },    { "memory", 0 },
	{ "tasks", 96 }, { "io", 150 },	    { "out", 120 }, { "output", 170 }, { "denied", 0 },
	{ "lost", 112 }, { "command", 0 },
};
#define LAYOUT (sizeof(layout) / sizeof(*layout))

static enum grid_style style_of(enum print_color color)
{
	static const enum grid_style styles[] = {
		[PRINT_PLAIN] = GRID_PLAIN, [PRINT_GOOD] = GRID_GOOD, [PRINT_BAD] = GRID_BAD,
		[PRINT_WARN] = GRID_WARN,   [PRINT_DIM] = GRID_DIM,
	};

	return styles[color];
}

static bool has_name_column(const struct grid *g)
{
	return g->columns >= layout[1].from;
}

/* Calls fn for each column that fits, with its place. */
static void each_column(struct grid *g,
			void (*fn)(struct grid *g, void *arg, const struct column *c, int column,
				   int width),
			void *arg)
{
	int at = 0;

	for (size_t i = 0; i < LAYOUT && at < g->columns; i++) {
		const struct column *c = column_find(layout[i].name);
		int width = c->width ? c->width : g->columns - at;

		if (g->columns < layout[i].from)
			continue;
		fn(g, arg, c, at, width);
		at += width + 1;
	}
}

/* ---- head and foot ---- */

static void draw_summary(const struct view *v, struct grid *g)
{
	const struct model_sums s = model_sums(v->model);
	char text[256];
	int at;

	snprintf(text, sizeof(text), "sbxtop: %zu runs, %llu processes, %llu threads", s.runs,
		 (unsigned long long)s.processes, (unsigned long long)s.threads);
	grid_text(g, 0, 0, g->columns, GRID_BOLD, false, text);
	at = (int)strlen(text) + 3;
	snprintf(text, sizeof(text), "refused %llu", (unsigned long long)s.denials);
	grid_text(g, 0, at, g->columns, s.denials ? GRID_WARN : GRID_PLAIN, false, text);
	at += (int)strlen(text) + 3;
	snprintf(text, sizeof(text), "lost %llu", (unsigned long long)s.lost);
	grid_text(g, 0, at, g->columns, s.lost ? GRID_WARN : GRID_PLAIN, false, text);
	at += (int)strlen(text) + 3;
	snprintf(text, sizeof(text), "reduced %u", s.reduced);
	grid_text(g, 0, at, g->columns, s.reduced ? GRID_WARN : GRID_PLAIN, false, text);
}

static void draw_state(const struct view *v, struct grid *g)
{
	const struct model *m = v->model;
	char text[256];

	if (v->error) {
		snprintf(text, sizeof(text), "not everything could be read: %s", v->error);
		grid_text(g, 1, 0, g->columns, GRID_BAD, false, text);
		return;
	}
	snprintf(text, sizeof(text), "sorted by %s%s%s%s%s%s", m->sort->name,
		 m->reverse ? ", turned round" : "", m->follow ? "" : ", selection stays",
		 m->filter[0] ? ", only with \"" : "", m->filter, m->filter[0] ? "\"" : "");
	grid_text(g, 1, 0, g->columns, m->filter[0] ? GRID_WARN : GRID_DIM, false, text);
}

static void draw_head(struct grid *g, void *arg, const struct column *c, int column, int width)
{
	const struct model *m = arg;

	grid_text(g, 2, column, width, c == m->sort ? GRID_CURSOR : GRID_BAR, c->right, c->head);
}

static void draw_foot(const struct view *v, struct grid *g)
{
	int row = g->rows - 1, at = 0;
	char text[512];

	grid_fill(g, row, 0, g->columns, GRID_BAR);
	if (v->prompt || v->notice) {
		snprintf(text, sizeof(text), "%s%s%s", v->prompt ? v->prompt : v->notice,
			 v->prompt ? v->input : "", v->prompt ? "_" : "");
		grid_text(g, row, 0, g->columns, GRID_BAR, false, text);
		return;
	}
	for (size_t i = 0; i < keys_count; i++) {
		if (!keys_rows[i].brief)
			continue;
		snprintf(text, sizeof(text), "%.*s %s", (int)strcspn(keys_rows[i].shown, " "),
			 keys_rows[i].shown, keys_rows[i].brief);
		if (at + (int)strlen(text) > g->columns)
			return;
		grid_text(g, row, at, g->columns, GRID_BAR, false, text);
		at += (int)strlen(text) + 1;
	}
}

/* ---- the list ---- */

struct drawing {
	const struct model *m;
	const struct model_line *line;
	int row;
	bool selected;
};

/* Where there is no column for the name it stands before the command. */
static void command_of(const struct grid *g, const struct drawing *d, char *buf, size_t size)
{
	const struct glance *run = d->m->runs[d->line->run].row.run;
	const char *fold = d->m->runs[d->line->run].folded ? "+ " : "";
	bool name = run->name && !has_name_column(g);

	snprintf(buf, size, "%*s%s%s%s%s", 2 * (int)d->line->depth, "", fold, name ? run->name : "",
		 name ? ": " : "", run->command ? run->command : "?");
}

static void draw_cell(struct grid *g, void *arg, const struct column *c, int column, int width)
{
	const struct drawing *d = arg;
	const struct column_row *row = &d->m->runs[d->line->run].row;
	enum grid_style style = style_of(column_color(c, row));
	char text[2 * COLUMN_TEXT];

	if (d->line->process != MODEL_NO_PROCESS) {
		const struct column_process p = {
			.process = &d->m->look.processes[d->line->process],
			.now_ns = d->m->look.now_ns,
			.cpu_permille = d->m->process_cpu[d->line->process],
			.depth = d->line->depth - 1,
		};

		column_process(c, &p, text, sizeof(text));
		style = GRID_PLAIN;
	} else if (!c->width) {
		command_of(g, d, text, sizeof(text));
	} else {
		c->text(row, text, sizeof(text));
	}
	grid_text(g, d->row, column, width, d->selected ? GRID_CURSOR : style, c->right, text);
}

static void draw_list(const struct view *v, struct grid *g, int rows)
{
	struct model *m = v->model;

	model_scroll(m, (size_t)rows);
	for (int i = 0; i < rows && m->top + (size_t)i < m->line_count; i++) {
		size_t at = m->top + (size_t)i;
		struct drawing d = { m, &m->lines[at], HEAD_ROWS + i, at == m->cursor };

		if (d.selected)
			grid_fill(g, d.row, 0, g->columns, GRID_CURSOR);
		each_column(g, draw_cell, &d);
	}
	if (!m->line_count)
		grid_text(g, HEAD_ROWS, 2, g->columns, GRID_DIM, false,
			  m->run_count ? "no run matches" : "no run is alive");
}

/* ---- the pane ---- */

static int pane_rows(const struct view *v, int rows)
{
	return v->pane->kind == PANE_NONE ? 0 : (rows - HEAD_ROWS - FOOT_ROWS) / 2;
}

int view_list_rows(const struct view *v, int rows)
{
	return rows - HEAD_ROWS - FOOT_ROWS - pane_rows(v, rows);
}

/* What is chosen is in sight, and the end is no further up than need be. */
static void scroll_pane(struct pane *p, size_t rows)
{
	if (p->chosen_lines && p->chosen_line < p->top)
		p->top = p->chosen_line;
	if (p->chosen_lines && p->chosen_line + p->chosen_lines > p->top + rows)
		p->top = p->chosen_line + p->chosen_lines - rows;
	if (p->top + rows > p->count)
		p->top = p->count > rows ? p->count - rows : 0;
}

static void draw_pane(const struct view *v, struct grid *g)
{
	struct pane *p = v->pane;
	int rows = pane_rows(v, g->rows), first = g->rows - FOOT_ROWS - rows;

	if (!rows)
		return;
	scroll_pane(p, (size_t)rows - 1);
	grid_fill(g, first, 0, g->columns, GRID_BAR);
	grid_text(g, first, 0, g->columns, GRID_BAR, false, p->title);
	for (int i = 1; i < rows && p->top + (size_t)i - 1 < p->count; i++) {
		const struct pane_line *line = &p->lines[p->top + (size_t)i - 1];

		grid_text(g, first + i, 0, g->columns, style_of(line->color), false, line->text);
	}
}

/* ---- pages ---- */

/* As many as fit from the one on that has been scrolled to. */
static void draw_help(const struct view *v, struct grid *g)
{
	int rows = g->rows - 2, first = v->help_top;

	if (first > (int)keys_count - rows)
		first = (int)keys_count > rows ? (int)keys_count - rows : 0;
	grid_text(g, 0, 0, g->columns, GRID_BOLD, false,
		  "keys of sbxtop; Up and Down scroll, any other key goes back");
	for (int i = 0; i < rows && first + i < (int)keys_count; i++) {
		const struct keys_row *row = &keys_rows[first + i];

		grid_text(g, 2 + i, 2, 8, GRID_GOOD, false, row->shown);
		grid_text(g, 2 + i, 11, g->columns - 11, GRID_PLAIN, false, row->help);
	}
}

static void draw_too_small(struct grid *g)
{
	char text[96];

	snprintf(text, sizeof(text), "too small: %dx%d, wanted %dx%d", g->columns, g->rows,
		 VIEW_COLUMNS_MIN, VIEW_ROWS_MIN);
	grid_text(g, 0, 0, g->columns, GRID_PLAIN, false, text);
}

void view_draw(const struct view *v, struct grid *g)
{
	grid_clear(g);
	if (g->columns < VIEW_COLUMNS_MIN || g->rows < VIEW_ROWS_MIN) {
		draw_too_small(g);
		return;
	}
	if (v->help) {
		draw_help(v, g);
		return;
	}
	draw_summary(v, g);
	draw_state(v, g);
	grid_fill(g, 2, 0, g->columns, GRID_BAR);
	each_column(g, draw_head, v->model);
	draw_list(v, g, view_list_rows(v, g->rows));
	draw_pane(v, g);
	draw_foot(v, g);
}
