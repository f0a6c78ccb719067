/* SPDX-License-Identifier: Apache-2.0 */
/* What sbxtop shows and in which order: looks are made by hand, and so is the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sbxctl/forest.h"
#include "top_scene.h"

static void a_tree_is_shown_parents_first(void **state)
{
	const struct view_process list[] = {
		{ .pid = 10, .ppid = 1 },  { .pid = 12, .ppid = 10 }, { .pid = 11, .ppid = 10 },
		{ .pid = 20, .ppid = 12 }, { .pid = 30, .ppid = 99 },
	};
	static const uint32_t pids[] = { 10, 12, 20, 11, 30 }, depths[] = { 0, 1, 2, 1, 0 };
	struct forest_node nodes[5];

	(void)state;
	assert_int_equal(forest_order(list, 5, nodes), 0);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(list[nodes[i].process].pid, pids[i]);
		assert_int_equal(nodes[i].depth, depths[i]);
	}
}

static void a_circle_of_parents_loses_nobody(void **state)
{
	const struct view_process list[] = {
		{ .pid = 1, .ppid = 2 },
		{ .pid = 2, .ppid = 1 },
		{ .pid = 3, .ppid = 3 },
		{ .pid = 3, .ppid = 1 },
	};
	struct forest_node nodes[4];
	bool seen[4] = { 0 };

	(void)state;
	assert_int_equal(forest_order(list, 4, nodes), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_false(seen[nodes[i].process]);
		seen[nodes[i].process] = true;
	}
}

static void a_deep_tree_is_as_flat_as_the_bound(void **state)
{
	enum { DEEP = 5000 };
	struct view_process *list = calloc(DEEP, sizeof(*list));
	struct forest_node *nodes = calloc(DEEP, sizeof(*nodes));

	(void)state;
	for (uint32_t i = 0; i < DEEP; i++)
		list[i] = (struct view_process){ .pid = i + 1, .ppid = i };
	assert_int_equal(forest_order(list, DEEP, nodes), 0);
	assert_int_equal(nodes[DEEP - 1].process, DEEP - 1);
	assert_int_equal(nodes[DEEP - 1].depth, FOREST_DEPTH_MAX);
	free(list);
	free(nodes);
}

static const char *id_at(const struct model *m, size_t line)
{
	return m->runs[m->lines[line].run].row.run->id;
}

static void runs_are_shown_with_their_processes_and_what_is_inside(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	scene_take(s, 5000000000);
	assert_int_equal(s->model->line_count, 7);
	/* The newest first; the nested one below the one around it. */
	assert_string_equal(id_at(s->model, 0), "cccccccccc");
	assert_string_equal(id_at(s->model, 1), "aaaaaaaaab");
	assert_int_equal(s->model->lines[1].process, MODEL_NO_PROCESS);
	assert_int_equal(s->model->lines[2].depth, 1);
	assert_int_equal(s->model->lines[3].depth, 2);
	assert_string_equal(id_at(s->model, 4), "bbbbbbbbbb");
	assert_int_equal(s->model->lines[4].depth, 1);
	scene_free(s);
}

static void rates_need_two_looks(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	scene_take(s, 5000000000);
	assert_int_equal(s->model->runs[0].row.cpu_permille, GLANCE_UNKNOWN);
	s->runs[0].cpu_ns += 250000000;
	s->runs[0].output_bytes += 2000;
	s->processes[0].cpu_ns += 500000000;
	scene_take(s, 5500000000);
	assert_int_equal(s->model->runs[0].row.cpu_permille, 500);
	assert_int_equal(s->model->runs[0].row.output_rate, 4000);
	assert_int_equal(s->model->process_cpu[0], 1000);
	/* What is unknown has no rate. */
	assert_int_equal(s->model->runs[0].row.io_rate, GLANCE_UNKNOWN);
	s->runs[0].cpu_ns = GLANCE_UNKNOWN;
	scene_take(s, 6000000000);
	assert_int_equal(s->model->runs[0].row.cpu_permille, GLANCE_UNKNOWN);
	scene_free(s);
}

static void what_is_unknown_is_sorted_last_both_ways(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	s->runs[2].memory_bytes = GLANCE_UNKNOWN;
	scene_take(s, 1);
	s->model->sort = column_find("memory");
	for (int i = 0; i < 2; i++) {
		s->model->reverse = i;
		assert_int_equal(model_order(s->model), 0);
		assert_string_equal(id_at(s->model, 6), "cccccccccc");
	}
	scene_free(s);
}

static void a_filter_matches_runs_and_their_processes(void **state)
{
	static const struct {
		const char *filter;
		size_t lines;
	} rows[] = { { "", 7 }, { "BUILD", 3 }, { "make", 3 }, { "nothing", 0 }, { "root", 7 } };
	struct scene *s = scene_new();

	(void)state;
	scene_take(s, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		strcpy(s->model->filter, rows[i].filter);
		assert_int_equal(model_order(s->model), 0);
		assert_int_equal(s->model->line_count, rows[i].lines);
	}
	scene_free(s);
}

static void one_run_is_shown_with_those_inside_it(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	s->model->only_id = "aaaa";
	scene_take(s, 1);
	assert_int_equal(s->model->line_count, 6);
	s->model->only_id = NULL;
	s->model->only_scope = "nightly";
	assert_int_equal(model_order(s->model), 0);
	assert_int_equal(s->model->line_count, 0);
	s->runs[2].scope = strdup("nightly");
	assert_int_equal(model_order(s->model), 0);
	assert_int_equal(s->model->line_count, 1);
	scene_free(s);
}

static void folding_hides_and_the_selection_stays_with_its_run(void **state)
{
	struct scene *s = scene_new();
	struct model *m = s->model;

	(void)state;
	scene_take(s, 1);
	model_move(m, 3); /* the second process of the first run */
	assert_int_equal(m->selected_pid, 101);
	model_fold(m, true);
	assert_int_equal(m->line_count, 2);
	assert_int_equal(m->cursor, 1);
	assert_int_equal(m->selected_pid, 0);
	model_fold(m, false);
	assert_int_equal(m->line_count, 7);
	model_fold_all(m, true);
	assert_int_equal(m->line_count, 2);
	model_fold(m, false);
	assert_int_equal(m->line_count, 5); /* the nested one stays folded */
	scene_free(s);
}

static void the_selection_follows_or_stays(void **state)
{
	struct scene *s = scene_new();
	struct model *m = s->model;

	(void)state;
	scene_take(s, 1);
	model_move(m, 1);
	assert_string_equal(id_at(m, m->cursor), "aaaaaaaaab");
	m->reverse = false; /* the oldest first */
	model_order(m);
	assert_int_equal(m->cursor, 0);
	m->follow = false;
	m->reverse = true;
	model_order(m);
	assert_int_equal(m->cursor, 0);
	assert_string_equal(id_at(m, m->cursor), "cccccccccc");
	scene_free(s);
}

static void the_cursor_stays_on_the_list_and_the_list_around_the_cursor(void **state)
{
	struct scene *s = scene_new();
	struct model *m = s->model;

	(void)state;
	scene_take(s, 1);
	model_move(m, 1000);
	assert_int_equal(m->cursor, 6);
	model_scroll(m, 3);
	assert_int_equal(m->top, 4);
	model_move(m, -1000);
	model_scroll(m, 3);
	assert_int_equal(m->top, 0);
	scene_take_none(s);
	assert_int_equal(m->cursor, 0);
	assert_null(model_selected(m));
	model_move(m, 1);
	model_fold(m, true);
	scene_free(s);
}

static void sums_count_nested_runs_once_and_unknown_as_nothing(void **state)
{
	struct scene *s = scene_new();
	struct model_sums sums;

	(void)state;
	s->runs[2].processes = GLANCE_UNKNOWN;
	scene_take(s, 1);
	sums = model_sums(s->model);
	assert_int_equal(sums.runs, 3);
	assert_int_equal(sums.processes, 4); /* of a, those in b included */
	assert_int_equal(sums.reduced, 1);
	assert_int_equal(sums.lost, 7);
	scene_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_is_shown_parents_first),
		cmocka_unit_test(a_circle_of_parents_loses_nobody),
		cmocka_unit_test(a_deep_tree_is_as_flat_as_the_bound),
		cmocka_unit_test(runs_are_shown_with_their_processes_and_what_is_inside),
		cmocka_unit_test(rates_need_two_looks),
		cmocka_unit_test(what_is_unknown_is_sorted_last_both_ways),
		cmocka_unit_test(a_filter_matches_runs_and_their_processes),
		cmocka_unit_test(one_run_is_shown_with_those_inside_it),
		cmocka_unit_test(folding_hides_and_the_selection_stays_with_its_run),
		cmocka_unit_test(the_selection_follows_or_stays),
		cmocka_unit_test(the_cursor_stays_on_the_list_and_the_list_around_the_cursor),
		cmocka_unit_test(sums_count_nested_runs_once_and_unknown_as_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
