/* SPDX-License-Identifier: Apache-2.0 */
#include "pane.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/limit.h"
#include "sbxctl/column.h"

void pane_clear(struct pane *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->lines[i].text);
	free(p->hint);
	p->hint = NULL;
	p->count = 0;
	p->chosen_lines = 0;
}

void pane_done(struct pane *p)
{
	pane_clear(p);
	free(p->lines);
	*p = (struct pane){ 0 };
}

void pane_add(struct pane *p, enum print_color color, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (p->count == p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		struct pane_line *lines = realloc(p->lines, room * sizeof(*lines));

		if (!lines)
			return;
		p->lines = lines;
		p->room = room;
	}
	p->lines[p->count].text = strdup(text);
	if (p->lines[p->count].text)
		p->lines[p->count++].color = color;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static long long number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* ---- denials ---- */

static void add_denial(struct pane *p, const json_t *item, bool chosen)
{
	const char *rule = text_of(item, "rule"), *hint = text_of(item, "hint");
	size_t first = p->count;

	pane_add(p, PRINT_BAD, "%s %s %s: %s, %lld times, by %s (pid %lld)%s", chosen ? ">" : " ",
		 text_of(item, "act"), text_of(item, "object"), text_of(item, "errno"),
		 number_of(item, "count"), text_of(item, "comm"), number_of(item, "pid"),
		 strcmp(text_of(item, "source"), "syscall") ? "" : ", advisory");
	if (*rule)
		pane_add(p, PRINT_PLAIN, "    rule: %s", rule);
	if (*hint)
		pane_add(p, PRINT_GOOD, "    allowed by: %s", hint);
	if (!chosen)
		return;
	p->chosen_line = first;
	p->chosen_lines = p->count - first;
	p->hint = *hint ? strdup(hint) : NULL;
}

void pane_denials(struct pane *p, const struct glance *g, const json_t *denials)
{
	const json_t *items = json_object_get(denials, "items");
	size_t count = json_array_size(items), i;
	long long shown = 0;
	json_t *item;

	pane_clear(p);
	snprintf(p->title, sizeof(p->title),
		 "denials of %s: ] the next, [ the one before, y copies", g->id);
	if (!denials) {
		pane_add(p, PRINT_WARN, "unknown: the keeper has not answered");
		return;
	}
	if (p->chosen >= count)
		p->chosen = count ? count - 1 : 0;
	json_array_foreach(items, i, item) {
		add_denial(p, item, i == p->chosen);
		shown += number_of(item, "count");
	}
	if (number_of(denials, "total") > shown)
		pane_add(p, PRINT_WARN, "and %lld more that are not listed",
			 number_of(denials, "total") - shown);
	else if (!count)
		pane_add(p, PRINT_PLAIN, "nothing was refused");
	if (json_is_false(json_object_get(denials, "complete")))
		pane_add(p, PRINT_WARN, "on this host not every refusal is seen");
}

/* ---- limits and clauses ---- */

static void add_limits(struct pane *p, const json_t *limits)
{
	for (int i = 0; i < LIMIT__COUNT; i++) {
		const json_t *limit = json_object_get(limits, limit_table[i].name);
		const json_t *value = json_object_get(limit, "value");
		char text[64] = "none";

		if (json_is_integer(value))
			limit_text((enum limit_id)i, (uint64_t)json_integer_value(value), text,
				   sizeof(text));
		pane_add(p, json_is_integer(value) ? PRINT_PLAIN : PRINT_DIM, "  %-12s %s%s%s",
			 limit_table[i].name, text, *text_of(limit, "origin") ? "  from " : "",
			 text_of(limit, "origin"));
	}
}

static void add_clause(struct pane *p, const json_t *clause)
{
	bool enforced = json_is_true(json_object_get(clause, "enforced"));
	const char *detail = text_of(clause, "detail");
	bool reduced = glance_reduced(clause);

	pane_add(p,
		 reduced    ? PRINT_BAD
		 : enforced ? PRINT_GOOD
			    : PRINT_DIM,
		 "  %-26s %-12s %s%s%s", text_of(clause, "capability"),
		 reduced    ? "REDUCED"
		 : enforced ? "enforced"
			    : "not enforced",
		 text_of(clause, "mechanism"), *detail ? ": " : "", detail);
}

void pane_limits(struct pane *p, const struct glance *g)
{
	json_t *clause;
	size_t i;

	pane_clear(p);
	snprintf(p->title, sizeof(p->title), "limits and clauses of %s, tier %c", g->id, g->tier);
	if (!g->clauses)
		pane_add(p, PRINT_WARN, "clauses: unknown");
	json_array_foreach(g->clauses, i, clause)
		if (glance_reduced(clause))
			add_clause(p, clause);
	json_array_foreach(g->clauses, i, clause)
		if (!glance_reduced(clause))
			add_clause(p, clause);
	pane_add(p, PRINT_PLAIN, "%s", "");
	if (g->limits)
		add_limits(p, g->limits);
	else
		pane_add(p, PRINT_WARN, "limits: unknown");
}

/* ---- a process ---- */

static void add_fact(struct pane *p, const char *name, const char *text)
{
	pane_add(p, text ? PRINT_PLAIN : PRINT_DIM, "  %-12s %s", name, text ? text : "unknown");
}

static void add_process(struct pane *p, const struct pane_process *f)
{
	const struct view_process *v = f->process;
	char age[32], cpu[32];

	column_duration(f->now_ns > v->start_ns ? f->now_ns - v->start_ns : 0, age, sizeof(age));
	column_duration(v->cpu_ns, cpu, sizeof(cpu));
	pane_add(p, PRINT_PLAIN, "  %-12s %u, child of %u", "pid", v->pid, v->ppid);
	pane_add(p, PRINT_PLAIN, "  %-12s %s", "name", v->comm);
	pane_add(p, PRINT_PLAIN, "  %-12s %c, %u threads, %s old, %s CPU", "state", v->state,
		 v->threads, age, cpu);
	add_fact(p, "user", f->user);
	add_fact(p, "executable", f->executable);
	add_fact(p, "directory", f->directory);
	add_fact(p, "arguments", f->arguments);
}

void pane_process(struct pane *p, const struct glance *g, const struct pane_process *f)
{
	pane_clear(p);
	if (f->process) {
		snprintf(p->title, sizeof(p->title), "process %u of %s", f->process->pid, g->id);
		add_process(p, f);
		return;
	}
	snprintf(p->title, sizeof(p->title), "run %s", g->id);
	add_fact(p, "name", g->name ? g->name : "none");
	add_fact(p, "command", g->command);
	pane_add(p, PRINT_DIM, "  select one of its processes to see more of that one");
}
