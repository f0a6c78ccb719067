/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Screens of sbxtop, cell by cell against tests/golden/top; SBX_GOLDEN=1 writes them. And: whatever a sandbox
 * calls things, every cell stays one character in its place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <locale.h>

#include "sbxtop/keys.h"
#include "sbxtop/view.h"
#include "top_scene.h"

struct stage {
	struct scene *scene;
	struct pane pane;
	struct view view;
	struct grid grid;
};

static struct stage *stage_new(int columns_wanted, int rows)
{
	struct stage *t = calloc(1, sizeof(*t));

	t->scene = scene_new();
	t->view = (struct view){ .model = t->scene->model, .pane = &t->pane };
	scene_take(t->scene, 5000000000);
	t->scene->runs[0].cpu_ns += 500000000;
	t->scene->runs[0].output_bytes = 4096;
	t->scene->processes[1].cpu_ns += 400000000;
	scene_take(t->scene, 6000000000);
	grid_resize(&t->grid, rows, columns_wanted);
	return t;
}

static void stage_free(struct stage *t)
{
	pane_done(&t->pane);
	grid_done(&t->grid);
	scene_free(t->scene);
	free(t);
}

/* Lines, with the style of each that has one other than plain: a letter a cell, below it. */
static void write_grid(const struct grid *g, FILE *out)
{
	static const char letters[GRID__STYLES] = { ' ', 'g', 'b', 'w', 'd', 'B', '=', '#' };
	char line[2048], styles[1024];

	for (int row = 0; row < g->rows; row++) {
		int end = 0;

		grid_line(g, row, line, sizeof(line));
		fprintf(out, "%s\n", line);
		for (int i = 0; i < g->columns; i++) {
			styles[i] = letters[g->cells[row * g->columns + i].style];
			end = styles[i] == ' ' ? end : i + 1;
		}
		if (end)
			fprintf(out, "~%.*s\n", end, styles);
	}
}

static char *whole(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 65536);

	if (file) {
		size_t n = fread(text, 1, 65535, file);

		text[n] = 0;
		fclose(file);
	}
	return text;
}

static void expect(struct stage *t, const char *name)
{
	char path[128], *drawn = NULL, *golden;
	size_t size;
	FILE *out = open_memstream(&drawn, &size);

	view_draw(&t->view, &t->grid);
	write_grid(&t->grid, out);
	fclose(out);
	snprintf(path, sizeof(path), "tests/golden/top/%s", name);
	if (getenv("SBX_GOLDEN")) {
		out = fopen(path, "w");
		assert_non_null(out);
		fputs(drawn, out);
		fclose(out);
	}
	golden = whole(path);
	assert_string_equal(drawn, golden);
	free(golden);
	free(drawn);
}

static void lists_at_three_sizes(void **state)
{
	static const struct {
		int columns_wanted, rows;
		const char *name;
	} sizes[] = { { 80, 24, "list-80x24" },
		      { 120, 40, "list-120x40" },
		      { 200, 60, "list-200x60" } };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct stage *t = stage_new(sizes[i].columns_wanted, sizes[i].rows);

		model_move(t->scene->model, 1);
		expect(t, sizes[i].name);
		stage_free(t);
	}
}

static void too_small_says_so(void **state)
{
	struct stage *t = stage_new(79, 24);
	char line[256];

	(void)state;
	view_draw(&t->view, &t->grid);
	grid_line(&t->grid, 0, line, sizeof(line));
	assert_string_equal(line, "too small: 79x24, wanted 80x24");
	/* And a size at which nothing at all fits. */
	grid_resize(&t->grid, 1, 1);
	view_draw(&t->view, &t->grid);
	stage_free(t);
}

static json_t *two_denials(void)
{
	return json_loads("{\"total\": 15, \"dropped\": 0, \"complete\": false, \"items\": ["
			  "{\"act\": \"read\", \"object\": \"/root/.ssh/id\\u001b[2J\", \"rule\": "
			  "\"deny ~/.ssh\","
			  " \"errno\": \"EACCES\", \"pid\": 101, \"comm\": \"cat\", \"count\": 2, "
			  "\"source\": \"lsm\","
			  " \"hint\": \"--ro /root/.ssh/id\"},"
			  "{\"act\": \"write\", \"object\": \"/etc/passwd\", \"rule\": \"\", "
			  "\"errno\": \"EROFS\","
			  " \"pid\": 200, \"comm\": \"sh\", \"count\": 10, \"source\": "
			  "\"syscall\", \"hint\": \"\"}]}",
			  0, NULL);
}

static void denials_with_rule_and_hint(void **state)
{
	struct stage *t = stage_new(80, 24);
	json_t *denials = two_denials();

	(void)state;
	t->pane.kind = PANE_DENIALS;
	pane_denials(&t->pane, &t->scene->runs[0], denials);
	assert_string_equal(t->pane.hint, "--ro /root/.ssh/id");
	expect(t, "denials-80x24");
	/* The next one has no hint; behind the last there is none. */
	t->pane.chosen = 7;
	pane_denials(&t->pane, &t->scene->runs[0], denials);
	assert_int_equal(t->pane.chosen, 1);
	assert_null(t->pane.hint);
	pane_denials(&t->pane, &t->scene->runs[0], NULL);
	assert_string_equal(t->pane.lines[0].text, "unknown: the keeper has not answered");
	json_decref(denials);
	stage_free(t);
}

static void reduced_clauses_come_first(void **state)
{
	struct stage *t = stage_new(120, 40);
	struct glance *g = &t->scene->runs[0];

	(void)state;
	g->clauses = json_loads(
		"[{\"capability\": \"tree_kill\", \"mechanism\": \"cgroup.kill\", \"listed\": true,"
		" \"attempted\": true, \"enforced\": true, \"detail\": \"\"},"
		"{\"capability\": \"memory_cap\", \"mechanism\": \"none\", \"listed\": true,"
		" \"attempted\": true, \"enforced\": false, \"detail\": \"reduced by request\"}]",
		0, NULL);
	g->limits = json_loads("{\"wall\": {\"value\": 300000000000, \"unit\": \"ns\"}}", 0, NULL);
	t->pane.kind = PANE_LIMITS;
	pane_limits(&t->pane, g);
	assert_non_null(strstr(t->pane.lines[0].text, "memory_cap"));
	assert_non_null(strstr(t->pane.lines[0].text, "REDUCED"));
	expect(t, "limits-120x40");
	stage_free(t);
}

static void one_process_and_what_may_not_be_read(void **state)
{
	struct stage *t = stage_new(80, 24);
	const struct pane_process facts = { .process = &t->scene->processes[1],
					    .now_ns = 6000000000,
					    .user = "65534" };

	(void)state;
	t->pane.kind = PANE_PROCESS;
	pane_process(&t->pane, &t->scene->runs[0], &facts);
	expect(t, "process-80x24");
	stage_free(t);
}

static void the_page_of_keys(void **state)
{
	struct stage *t = stage_new(120, 40);

	(void)state;
	t->view.help = true;
	expect(t, "help-120x40");
	grid_resize(&t->grid, 24, 80);
	t->view.help_top = 1000;
	view_draw(&t->view, &t->grid);
	stage_free(t);
}

static void prompts_notices_and_errors(void **state)
{
	struct stage *t = stage_new(80, 24);

	(void)state;
	t->view.prompt = "stop aaaaaaaaab? y or n ";
	t->view.input = "";
	t->view.error = "read the tables of the kernel half: Operation not permitted";
	strcpy(t->scene->model->filter, "build");
	model_order(t->scene->model);
	expect(t, "prompt-80x24");
	stage_free(t);
}

static void no_run_is_said(void **state)
{
	struct stage *t = stage_new(80, 24);
	char line[256];

	(void)state;
	scene_take_none(t->scene);
	view_draw(&t->view, &t->grid);
	grid_line(&t->grid, 3, line, sizeof(line));
	assert_string_equal(line, "  no run is alive");
	stage_free(t);
}

/* ---- hostile text ---- */

static bool is_printable(uint32_t c)
{
	return !c || (c >= 0x20 && c < 0x7f) ||
	       (c >= 0xa0 && c != 0x202e && c != 0x2028 && c != 0xfeff);
}

static void nothing_that_a_sandbox_chose_leaves_its_cell(void **state)
{
	static const char *const names[] = {
		"\033[2J\033]0;owned\a",
		"a\nb\rc\td",
		"\xff\xfe\xc3",
		"\xe2\x80\xaegnp.exe",
		"\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xbd\xa0\xe5\xa5\xbd",
		"e\xcc\x81\xcc\x82\xcc\x83",
		"\x9b"
		"31m",
		"%s%n%s",
		"",
	};
	struct stage *t = stage_new(80, 24);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		free(t->scene->runs[0].name);
		free(t->scene->runs[0].command);
		t->scene->runs[0].name = strdup(names[i]);
		t->scene->runs[0].command = strdup(names[i]);
		snprintf(t->scene->processes[0].comm, SBX_COMM, "%s", names[i]);
		for (int columns_wanted = 80; columns_wanted < 170; columns_wanted += 40) {
			grid_resize(&t->grid, 24, columns_wanted);
			view_draw(&t->view, &t->grid);
			for (int at = 0; at < 24 * columns_wanted; at++)
				assert_true(is_printable(t->grid.cells[at].code));
		}
	}
	stage_free(t);
}

static void wide_characters_take_two_cells_and_are_never_halved(void **state)
{
	struct grid g = { 0 };
	char line[64];

	(void)state;
	grid_resize(&g, 1, 8);
	grid_text(&g, 0, 0, 8, GRID_PLAIN, false, "\xe4\xbd\xa0\xe5\xa5\xbd");
	assert_int_equal(g.cells[1].code, 0);
	grid_line(&g, 0, line, sizeof(line));
	assert_string_equal(line, "\xe4\xbd\xa0\xe5\xa5\xbd");
	grid_clear(&g);
	grid_text(&g, 0, 0, 4, GRID_PLAIN, false, "a\xe4\xbd\xa0\xe5\xa5\xbd");
	grid_line(&g, 0, line, sizeof(line));
	assert_string_equal(line, "a\xe4\xbd\xa0\xe2\x80\xa6");
	grid_done(&g);
}

/* ---- keys ---- */

static void each_key_means_one_thing_and_each_action_has_one(void **state)
{
	(void)state;
	for (int action = KEYS_NONE + 1; action < KEYS__ACTIONS; action++) {
		bool found = false;

		for (size_t i = 0; i < keys_count; i++)
			found |= (int)keys_rows[i].action == action;
		assert_true(found);
	}
	for (size_t i = 0; i < keys_count; i++)
		for (int k = 0; k < KEYS_PER_ACTION && keys_rows[i].keys[k]; k++)
			assert_int_equal(keys_find(keys_rows[i].keys[k]), keys_rows[i].action);
	assert_int_equal(keys_find(0), KEYS_NONE);
	assert_int_equal(keys_find('Q'), KEYS_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_at_three_sizes),
		cmocka_unit_test(too_small_says_so),
		cmocka_unit_test(denials_with_rule_and_hint),
		cmocka_unit_test(reduced_clauses_come_first),
		cmocka_unit_test(one_process_and_what_may_not_be_read),
		cmocka_unit_test(the_page_of_keys),
		cmocka_unit_test(prompts_notices_and_errors),
		cmocka_unit_test(no_run_is_said),
		cmocka_unit_test(nothing_that_a_sandbox_chose_leaves_its_cell),
		cmocka_unit_test(wide_characters_take_two_cells_and_are_never_halved),
		cmocka_unit_test(each_key_means_one_thing_and_each_action_has_one),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
