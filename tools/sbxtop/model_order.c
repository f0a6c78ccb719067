/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a model: runs sorted, each with its processes and the runs inside it below. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "model_past.h"
#include "sbxctl/forest.h"

struct place { /* a shown run, as it is sorted */
	uint32_t run, parent;
	uint64_t key;
	const struct model *model;
};

static uint64_t key_of(const struct column *column, const struct column_row *row)
{
	return column->key ? column->key(row) : 0;
}

static int by_text(const struct model *m, const struct place *a, const struct place *b)
{
	char x[COLUMN_TEXT], y[COLUMN_TEXT];

	m->sort->text(&m->runs[a->run].row, x, sizeof(x));
	m->sort->text(&m->runs[b->run].row, y, sizeof(y));
	return strcmp(x, y);
}

/* Largest first; what nobody knows is last, whichever way. */
static int by_key(const struct model *m, const struct place *a, const struct place *b)
{
	bool none_a = a->key >= GLANCE_NONE, none_b = b->key >= GLANCE_NONE;

	if (none_a || none_b)
		return none_a - none_b;
	if (a->key == b->key)
		return 0;
	return (a->key > b->key ? -1 : 1) * (m->reverse ? -1 : 1);
}

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	const struct model *m = x->model;
	int order;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (m->sort->key)
		order = by_key(m, x, y);
	else
		order = by_text(m, x, y) * (m->reverse ? -1 : 1);
	if (order)
		return order;
	return x->run < y->run ? -1 : x->run > y->run;
}

struct ordering {
	struct model *m;
	struct place *places;
	size_t count;
	struct forest_node *nodes; /* room for the largest run */
};

static void add_line(struct model *m, uint32_t run, uint32_t process, uint32_t depth)
{
	m->lines[m->line_count++] = (struct model_line){ run, process, depth };
}

static int add_processes(struct ordering *o, const struct model_run *r, uint32_t depth)
{
	struct model *m = o->m;
	uint32_t run = (uint32_t)(r - m->runs);
	int rc = forest_order(m->look.processes + r->first, r->count, o->nodes);

	for (size_t i = 0; !rc && i < r->count; i++)
		add_line(m, run, (uint32_t)(r->first + o->nodes[i].process),
			 depth + 1 + o->nodes[i].depth);
	return rc;
}

static size_t first_child(const struct ordering *o, uint32_t parent)
{
	size_t low = 0, high = o->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (o->places[middle].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* As deep as sandboxes nest. */
static int add_runs(struct ordering *o, uint32_t parent, uint32_t depth)
{
	int rc = 0;

	for (size_t i = first_child(o, parent);
	     !rc && i < o->count && o->places[i].parent == parent && depth <= SBX_MAX_NEST; i++) {
		const struct model_run *r = &o->m->runs[o->places[i].run];

		add_line(o->m, o->places[i].run, MODEL_NO_PROCESS, depth);
		if (r->folded)
			continue;
		rc = add_processes(o, r, depth);
		if (!rc)
			rc = add_runs(o, o->places[i].run, depth + 1);
	}
	return rc;
}

static size_t largest(const struct model *m)
{
	size_t most = 0;

	for (size_t i = 0; i < m->run_count; i++)
		most = m->runs[i].count > most ? m->runs[i].count : most;
	return most;
}

int model_order(struct model *m)
{
	own_mem struct place *places = calloc(m->run_count + 1, sizeof(*places));
	own_mem struct forest_node *nodes = calloc(largest(m) + 1, sizeof(*nodes));
	struct ordering o = { .m = m, .places = places, .nodes = nodes };
	int rc;

	m->line_count = 0;
	if (!places || !nodes)
		return -ENOMEM;
	model_choose(m);
	for (size_t i = 0; i < m->run_count; i++)
		if (m->runs[i].shown)
			places[o.count++] = (struct place){ .run = (uint32_t)i,
							    .parent = m->runs[i].parent,
							    .key = key_of(m->sort, &m->runs[i].row),
							    .model = m };
	qsort(places, o.count, sizeof(*places), compare);
	rc = add_runs(&o, MODEL_NO_PROCESS, 0);
	model_find_selected(m);
	return rc;
}
