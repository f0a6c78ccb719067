/* SPDX-License-Identifier: Apache-2.0 */
/* ps: one row a run. Live ones from a survey, ended ones from result.json and meta.json. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "column.h"
#include "forest.h"
#include "print.h"
#include "run/sweep.h"
#include "serve/survey.h"
#include "usage.h"

#define PS_SETTLE_MS 1000 /* a stopped keeper must not hold up the list */

static const char columns_usual[] = "id,name,state,age,procs,cpu,mem,deadline,command";
static const char columns_wide[] = "id,name,state,tier,owner,age,deadline,procs,cpu,memory,tasks,"
				   "read,write,output,denied,lost,"
				   "command";

struct listing {
	struct survey *survey;
	struct glance *ended; /* owned */
	size_t ended_count, count;
	const struct glance **rows; /* newest first */
	const struct column *columns[TABLE_COLUMNS_MAX];
	int column_count;
	bool tree;
};

/* ---- what there is ---- */

static int64_t unix_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int add_ended(void *arg, struct rundir *d, enum rundir_state state)
{
	struct listing *l = arg;
	json_t *meta,
		*result = state == RUNDIR_ENDED ? rundir_read_json(d, "result.json", NULL) : NULL;
	struct glance *grown;

	if (!result)
		return 0;
	grown = realloc(l->ended, (l->ended_count + 1) * sizeof(*grown));
	if (grown) {
		l->ended = grown;
		meta = rundir_read_json(d, "meta.json", NULL);
		glance_init(&grown[l->ended_count], d->id);
		glance_meta(&grown[l->ended_count], meta);
		glance_result(&grown[l->ended_count], result);
		glance_tick(&grown[l->ended_count++], unix_now_ns());
		json_decref(meta);
	}
	json_decref(result);
	return grown ? 0 : -ENOMEM;
}

static int newest_first(const void *a, const void *b)
{
	const struct glance *x = *(const struct glance *const *)a;
	const struct glance *y = *(const struct glance *const *)b;

	return x->started_unix_ns > y->started_unix_ns ? -1
						       : x->started_unix_ns < y->started_unix_ns;
}

/* What keepers alone know is in the second look. */
static int look(struct listing *l, struct err *err)
{
	int rc = survey_new(&l->survey, err);

	if (!rc)
		rc = survey_look(l->survey, err);
	for (size_t i = 0; !rc && i < survey_count(l->survey); i++)
		survey_want(l->survey, survey_run(l->survey, i)->number, SURVEY_STATUS);
	if (!rc)
		rc = survey_look(l->survey, err);
	if (rc)
		return rc;
	survey_settle(l->survey, PS_SETTLE_MS);
	survey_want_none(l->survey);
	return survey_look(l->survey, err);
}

static int collect(struct listing *l, bool all, struct err *err)
{
	int rc = look(l, err);

	if (rc)
		return rc;
	rc = all ? rundir_each(add_ended, l) : 0;
	if (rc)
		return err_set(err, rc, "list '%s'", rundir_top());
	l->rows = calloc(survey_count(l->survey) + l->ended_count + 1, sizeof(struct glance *));
	if (!l->rows)
		return err_set(err, -ENOMEM, "list the runs");
	for (size_t i = 0; i < survey_count(l->survey); i++)
		l->rows[l->count++] = survey_run(l->survey, i);
	for (size_t i = 0; i < l->ended_count; i++)
		l->rows[l->count++] = &l->ended[i];
	qsort(l->rows, l->count, sizeof(struct glance *), newest_first);
	return 0;
}

static void listing_done(struct listing *l)
{
	for (size_t i = 0; i < l->ended_count; i++)
		glance_done(&l->ended[i]);
	free(l->ended);
	free(l->rows);
	survey_free(l->survey);
}

/* ---- its processes ---- */

static struct view_process *processes_of(const struct listing *l, uint64_t run, size_t *count)
{
	const struct view_processes *all = survey_processes(l->survey);
	size_t first = 0;

	while (first < all->count && all->list[first].sandbox != run)
		first++;
	for (*count = 0; first + *count < all->count && all->list[first + *count].sandbox == run;)
		++*count;
	return all->list + first;
}

/* New, or NULL; *count of them. */
static struct forest_node *tree_of(const struct view_process *list, size_t count)
{
	struct forest_node *nodes = calloc(count + 1, sizeof(*nodes));

	if (nodes && forest_order(list, count, nodes)) {
		free(nodes);
		nodes = NULL;
	}
	return nodes;
}

static void add_processes(const struct listing *l, struct table *t, uint64_t run)
{
	size_t count;
	const struct view_process *list = processes_of(l, run, &count);
	own_mem struct forest_node *nodes = tree_of(list, count);
	char text[COLUMN_TEXT];

	for (size_t i = 0; nodes && i < count; i++) {
		const struct column_process p = { .process = &list[nodes[i].process],
						  .now_ns = clock_boot_ns(),
						  .cpu_permille = GLANCE_UNKNOWN,
						  .depth = nodes[i].depth };

		for (int c = 0; c < l->column_count; c++) {
			column_process(l->columns[c], &p, text, sizeof(text));
			table_cell(t, PRINT_PLAIN, "%s", *text ? text : " ");
		}
	}
}

static json_t *process_json(const struct view_process *p, unsigned int depth)
{
	const char state[] = { p->state, 0 };
	size_t len = 0;
	bool lossy;
	own_str comm = text_to_utf8(p->comm, strlen(p->comm), &len, &lossy);

	return json_pack("{s:i, s:i, s:s, s:s, s:i, s:I, s:i}", "pid", (int)p->pid, "ppid",
			 (int)p->ppid, "comm", comm ? comm : "", "state", state, "threads",
			 (int)p->threads, "cpu_ns", (json_int_t)p->cpu_ns, "depth", (int)depth);
}

static json_t *tree_json(const struct listing *l, uint64_t run)
{
	size_t count;
	const struct view_process *list = processes_of(l, run, &count);
	own_mem struct forest_node *nodes = tree_of(list, count);
	json_t *out = json_array();

	for (size_t i = 0; nodes && i < count; i++)
		json_array_append_new(out, process_json(&list[nodes[i].process], nodes[i].depth));
	return out;
}

/* ---- as people and programs read it ---- */

static int print_rows(const struct listing *l, bool color)
{
	const char *heads[TABLE_COLUMNS_MAX];
	char text[COLUMN_TEXT];
	struct table t;
	int rc;

	for (int c = 0; c < l->column_count; c++)
		heads[c] = l->columns[c]->head;
	table_init(&t, heads, (size_t)l->column_count);
	for (size_t i = 0; i < l->count; i++) {
		const struct column_row row = { .run = l->rows[i],
						.cpu_permille = GLANCE_UNKNOWN,
						.output_rate = GLANCE_UNKNOWN,
						.io_rate = GLANCE_UNKNOWN };

		for (int c = 0; c < l->column_count; c++) {
			l->columns[c]->text(&row, text, sizeof(text));
			table_cell(&t, column_color(l->columns[c], &row), "%s", text);
		}
		if (l->tree && !l->rows[i]->result)
			add_processes(l, &t, l->rows[i]->number);
	}
	rc = table_print(&t, stdout, color);
	table_done(&t);
	return rc;
}

static int print_as_json(const struct listing *l)
{
	json_t *rows = json_array();
	int rc;

	for (size_t i = 0; i < l->count; i++) {
		json_t *row = glance_json(l->rows[i]);

		if (l->tree && !l->rows[i]->result)
			json_object_set_new(row, "tree", tree_json(l, l->rows[i]->number));
		json_array_append_new(rows, row);
	}
	rc = print_json(stdout, rows, false);
	json_decref(rows);
	return rc;
}

/* 0, or the exit status of misuse. */
static int choose(struct listing *l, const struct args *a, bool *color)
{
	const char *list = args_value(a, "--columns");
	struct err err = { 0 };

	if (list && args_given(a, "--wide"))
		return usage_refuse("ps", "--wide and --columns are two ways to choose columns");
	if (!list)
		list = args_given(a, "--wide") ? columns_wide : columns_usual;
	l->tree = args_given(a, "--tree");
	l->column_count = column_list(list, l->columns, TABLE_COLUMNS_MAX, &err);
	if (l->column_count < 0 || print_color_when(args_value(a, "--color"), stdout, color, &err))
		return usage_refuse_err("ps", &err);
	return 0;
}

int cmd_ps(int argc, char **argv)
{
	struct listing l = { 0 };
	struct err err = { 0 };
	struct args a;
	bool color;
	int rc = args_parse(&a, argc, argv, 0, 0);

	if (!rc)
		rc = choose(&l, &a, &color);
	if (rc)
		return rc;
	sweep_dead();
	rc = collect(&l, args_given(&a, "--all"), &err);
	if (rc)
		rc = print_err(argv[0], &err);
	else
		rc = args_given(&a, "--json") ? print_as_json(&l) : print_rows(&l, color);
	listing_done(&l);
	return rc ? 1 : 0;
}
