/* SPDX-License-Identifier: Apache-2.0 */
/* The record, its JSON against the golden files, and the exit status. tests/lib/check-results holds the golden files
 * against the schema; here the schema's closed lists are held against the tables. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "policy/capability.h"
#include "run/result.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SCHEMA "include/sbx/result.schema.json"

/* ---- golden ---- */

/* SBX_GOLDEN=write rewrites the file instead of comparing. */
static void same_as_golden(const char *path, const struct result *r)
{
	const char *mode = getenv("SBX_GOLDEN");
	json_t *got = result_json(r), *want;
	json_error_t where;

	assert_non_null(got);
	if (mode && !strcmp(mode, "write"))
		assert_int_equal(json_dump_file(got, path, JSON_INDENT(2)), 0);
	want = json_load_file(path, JSON_ALLOW_NUL, &where);
	if (!want)
		fail_msg("%s: %s", path, where.text);
	if (!json_equal(got, want)) {
		json_dumpf(got, stderr, JSON_INDENT(2));
		fail_msg("not as in %s", path);
	}
	json_decref(got);
	json_decref(want);
}

static void fill_measures(struct result *r)
{
	r->wall_ns = 1500000000;
	r->deadline_ns = 1000000000;
	r->overrun_ns = 2000000;
	r->cpu_user_ns = 11;
	r->cpu_system_ns = 22;
	r->memory_peak_bytes = 33;
	r->tasks_peak = 4;
	r->processes = 7;
	r->peak = 5;
	r->killed = 3;
	r->cgroup_escapes = 1;
	r->records_dropped = 2;
}

static void fill_lists(struct result *r)
{
	static const struct process_record record = {
		.pid = 100,
		.ppid = 99,
		.comm = "cat",
		.exit_code = 1,
		.signal = -1,
		.started_ns = 5,
		.ended_ns = RESULT_NONE,
	};
	static const struct autopsy_row row = {
		.pid = 101,
		.comm = "sl\xffp",
		.state = 'S',
		.wchan = "hrtimer_nanosleep",
		.cpu_ns = 9,
		.last_output_ns = RESULT_NONE,
	};

	r->records = malloc(sizeof(record));
	r->autopsy = malloc(sizeof(row));
	memcpy(r->records, &record, sizeof(record));
	memcpy(r->autopsy, &row, sizeof(row));
	r->record_count = r->autopsy_count = 1;
	snprintf(r->limits_hit[0].kind, sizeof(r->limits_hit[0].kind), "pids");
	r->limits_hit[0].count = 6;
	r->limits_hit_count = 1;
}

static void fill_output(struct result *r)
{
	static const char text[] = "a\0b\xffz";

	r->out.bytes = r->out.text_len = sizeof(text) - 1;
	r->out.text = malloc(sizeof(text));
	memcpy(r->out.text, text, sizeof(text));
	r->out.lossy = true;
	r->err_.bytes = 5000000;
	r->err_.text = strdup("head\n[sbx: 4999980 bytes left out here]\ntail");
	r->err_.text_len = strlen(r->err_.text);
	r->err_.truncated = true;
	r->err_.spill = strdup("/run/sbx/abcdefghij/stderr.spill");
}

static void fill_tier(struct result *r)
{
	result_clause(r, "process_tracking", "bpf tp_btf", true, true, true, "%u copies", 1U);
	result_clause(r, "tree_kill", "cgroup.kill and rows", true, true, true, NULL);
	result_clause(r, "network_restriction", "not asked", false, false, false, NULL);
	result_clause(r, "memory_cap", "none", true, true, false, "memory.max: %s", "EACCES");
	result_sentence(r);
}

static void a_killed_run_renders_as_its_golden_file(void **state)
{
	struct spec spec;
	struct result r;
	struct spec_pair label = { .name = (char *)"team", .value = (char *)"a \"b\"" };

	(void)state;
	spec_init(&spec);
	spec.name = (char *)"build";
	spec.labels = &label;
	spec.label_count = 1;
	result_init(&r);
	r.spec = &spec;
	strcpy(r.id, "abcdefghij");
	memset(r.spec_digest, 'a', 64);
	r.outcome = OUTCOME_LIMIT_EXCEEDED;
	r.killed_by = KILLED_BY_WALL;
	r.signal = SIGKILL;
	r.limit = LIMIT_WALL;
	r.limit_actual = 1002000000;
	r.limits[LIMIT_WALL].asked = (struct spec_limit){ ORIGIN_EXPLICIT, 1000000000, "" };
	r.limits[LIMIT_MEMORY].asked = (struct spec_limit){ ORIGIN_PRESET, 134217728, "strict" };
	r.limits[LIMIT_MEMORY].still_in_force = 0;
	r.limits[LIMIT_IDLE].asked = (struct spec_limit){ ORIGIN_WAIVED, 0, "" };
	r.started_unix_ns = 1767225600000000001;
	r.ended_unix_ns = 1767225601500000000;
	result_diagnostic(&r, UINT64_MAX, "wall limit exceeded (%s)", "1 s");
	fill_measures(&r);
	fill_lists(&r);
	fill_output(&r);
	fill_tier(&r);
	same_as_golden("tests/golden/killed/result.json", &r);
	spec.name = NULL;
	spec.labels = NULL;
	spec.label_count = 0;
	result_done(&r);
	spec_done(&spec);
}

static void a_run_that_never_started_renders_as_its_golden_file(void **state)
{
	struct result r;

	(void)state;
	result_init(&r);
	strcpy(r.id, "2345672345");
	r.outcome = OUTCOME_COULD_NOT_RUN;
	r.launch_errno = ENOENT;
	r.launched_by_path = true;
	r.started_unix_ns = r.ended_unix_ns = 0;
	result_diagnostic(&r, UINT64_MAX, "'nope': not found");
	result_sentence(&r);
	same_as_golden("tests/golden/could-not-run/result.json", &r);
	result_done(&r);
}

/* ---- measures ---- */

static void what_was_not_measured_is_null_and_not_zero(void **state)
{
	static const char *const usage[] = { "cpu_user_ns", "cpu_system_ns", "memory_peak_bytes",
					     "tasks_peak",  "read_bytes",    "write_bytes" };
	struct result r;
	json_t *json;

	(void)state;
	result_init(&r);
	json = result_json(&r);
	for (size_t i = 0; i < COUNT(usage); i++)
		assert_true(
			json_is_null(json_object_get(json_object_get(json, "usage"), usage[i])));
	assert_true(json_is_null(json_object_get(json, "exit_code")));
	assert_true(json_is_null(json_object_get(json, "signal")));
	json_decref(json);
	r.cpu_user_ns = 0;
	r.exit_code = 0;
	json = result_json(&r);
	assert_true(
		json_is_integer(json_object_get(json_object_get(json, "usage"), "cpu_user_ns")));
	assert_true(json_is_integer(json_object_get(json, "exit_code")));
	json_decref(json);
	result_done(&r);
}

static void output_that_nobody_counted_is_null(void **state)
{
	struct result r;
	json_t *json, *out;

	(void)state;
	result_init(&r);
	r.out.bytes = RESULT_NONE;
	json = result_json(&r);
	out = json_object_get(json_object_get(json, "output"), "stdout");
	assert_true(json_is_null(json_object_get(out, "bytes")));
	assert_true(json_is_null(json_object_get(out, "text")));
	out = json_object_get(json_object_get(json, "output"), "stderr");
	assert_string_equal(json_string_value(json_object_get(out, "text")), "");
	json_decref(json);
	result_done(&r);
}

/* ---- diagnostics (contract 11) ---- */

static void a_diagnostic_is_bounded_on_a_character_boundary(void **state)
{
	static const uint64_t caps[] = { 1, 3, 100, 511, 512, 513, UINT64_MAX };
	char path[8001];
	struct result r;

	(void)state;
	for (size_t i = 0; i < 4000; i++)
		memcpy(path + 2 * i, "\xc3\xa9", 3);
	result_init(&r);
	for (size_t i = 0; i < COUNT(caps); i++) {
		uint64_t bound = caps[i] < 512 ? caps[i] : 512;

		result_diagnostic(&r, caps[i], "%s", path);
		assert_int_equal(strlen(r.diagnostic), bound & ~1ULL);
		assert_true(text_valid(r.diagnostic, strlen(r.diagnostic)));
	}
	result_diagnostic(&r, 100, "x\xff%s", "y");
	assert_string_equal(r.diagnostic, "x\xef\xbf\xbdy");
}

/* ---- tier ---- */

static void a_clause_that_is_not_enforced_never_reads_as_if_it_were(void **state)
{
	struct result r;

	(void)state;
	result_init(&r);
	result_clause(&r, "memory_cap", "memory v1", true, true, false, "emptied by systemd");
	result_clause(&r, "pids_cap", "pids v1", true, false, false, NULL);
	result_clause(&r, "cpu_cap", "cpu v1", true, true, true, "whatever");
	result_sentence(&r);
	assert_string_equal(r.tier_sentence,
			    "tracking: not asked; kill: not asked; kernel kill: not asked; "
			    "memory: not enforced (emptied by systemd); cpu: cpu v1; "
			    "pids: not enforced; files: not asked; network: not asked; "
			    "isolation: not asked; privileges: not asked");
}

static void too_many_clauses_are_said(void **state)
{
	struct result r;

	(void)state;
	result_init(&r);
	for (int i = 0; i < RESULT_CLAUSES_MAX + 3; i++)
		result_clause(&r, "attach", "x", false, false, false, "%d", i);
	assert_int_equal(r.clause_count, RESULT_CLAUSES_MAX);
	assert_string_equal(r.clauses[RESULT_CLAUSES_MAX - 1].detail, "more clauses");
}

/* ---- exit status (DESIGN 8) ---- */

static const struct {
	struct result r;
	int status;
} statuses[] = {
	{ { .outcome = OUTCOME_EXITED, .exit_code = 0 }, 0 },
	{ { .outcome = OUTCOME_EXITED, .exit_code = 42 }, 42 },
	{ { .outcome = OUTCOME_EXITED, .exit_code = 137 }, 137 },
	{ { .outcome = OUTCOME_SIGNALED, .signal = SIGSEGV }, 139 },
	{ { .outcome = OUTCOME_SIGNALED, .signal = SIGKILL, .killed_by = KILLED_BY_EXTERNAL },
	  137 },
	{ { .outcome = OUTCOME_LIMIT_EXCEEDED, .killed_by = KILLED_BY_WALL }, 124 },
	{ { .outcome = OUTCOME_LIMIT_EXCEEDED, .killed_by = KILLED_BY_MEMORY }, 137 },
	{ { .outcome = OUTCOME_LIMIT_EXCEEDED, .killed_by = KILLED_BY_OUTPUT }, 137 },
	{ { .outcome = OUTCOME_COULD_NOT_RUN }, 125 },
	{ { .outcome = OUTCOME_CANCELLED, .killed_by = KILLED_BY_CANCEL }, 137 },
	{ { .outcome = OUTCOME_OWNER_EXITED, .killed_by = KILLED_BY_OWNER }, 137 },
	{ { .outcome = OUTCOME_STOPPED, .killed_by = KILLED_BY_STOP }, 137 },
	{ { .outcome = OUTCOME_INTERNAL_ERROR }, 137 },
	{ { .outcome = OUTCOME_DETACHED }, 0 },
	{ { .outcome = OUTCOME_UNKNOWN }, 125 },
};

static void every_outcome_has_its_exit_status(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(statuses); i++)
		if (result_exit_status(&statuses[i].r) != statuses[i].status)
			fail_msg("row %zu: %d", i, result_exit_status(&statuses[i].r));
}

static void a_result_that_is_read_back_has_the_same_status(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(statuses); i++) {
		json_t *json = json_pack("{s:s, s:i, s:i, s:s?}", "outcome",
					 outcome_name(statuses[i].r.outcome), "exit_code",
					 statuses[i].r.exit_code, "signal", statuses[i].r.signal,
					 "killed_by", killed_by_name(statuses[i].r.killed_by));

		assert_int_equal(result_json_exit_status(json), statuses[i].status);
		json_decref(json);
	}
}

static void a_command_that_could_not_be_executed_has_the_shells_status(void **state)
{
	struct result r = { .outcome = OUTCOME_COULD_NOT_RUN, .launch_errno = ENOENT };

	(void)state;
	assert_int_equal(result_exit_status(&r), 127);
	r.launch_errno = EACCES;
	assert_int_equal(result_exit_status(&r), 126);
}

static void times_are_rfc_3339_with_nanoseconds(void **state)
{
	char text[RESULT_TIME_LEN];

	(void)state;
	result_time_text(0, text);
	assert_string_equal(text, "1970-01-01T00:00:00.000000000Z");
	result_time_text(1709208000000000007, text);
	assert_string_equal(text, "2024-02-29T12:00:00.000000007Z");
}

/* ---- the schema's lists are the tables ---- */

static json_t *at(json_t *json, const char *path)
{
	char *copy = strdup(path), *save, *key;

	for (key = strtok_r(copy, "/", &save); key; key = strtok_r(NULL, "/", &save))
		json = json_object_get(json, key);
	free(copy);
	return json;
}

static void must_list(json_t *list, size_t index, const char *name)
{
	const char *its = json_string_value(json_array_get(list, index));

	if (!its || strcmp(its, name))
		fail_msg("entry %zu is %s, not %s", index, its ? its : "missing", name);
}

static void the_schema_lists_what_the_tables_list(void **state)
{
	json_error_t where;
	json_t *schema = json_load_file(SCHEMA, 0, &where), *list;

	(void)state;
	if (!schema)
		fail_msg("%s: %s", SCHEMA, where.text);
	list = at(schema, "$defs/capability/enum");
	assert_int_equal(json_array_size(list), CAP__COUNT);
	for (size_t i = 0; i < CAP__COUNT; i++)
		must_list(list, i, capability_table[i].name);
	list = at(schema, "$defs/limit_name/enum");
	assert_int_equal(json_array_size(list), LIMIT__COUNT);
	for (size_t i = 0; i < LIMIT__COUNT; i++)
		must_list(list, i, limit_table[i].name);
	list = at(schema, "properties/killed_by/enum");
	assert_int_equal(json_array_size(list), KILLED_BY_EXTERNAL + 1);
	for (size_t i = 1; i <= KILLED_BY_EXTERNAL; i++)
		must_list(list, i, killed_by_name((enum killed_by)i));
	list = at(schema, "properties/outcome/enum");
	assert_int_equal(json_array_size(list), OUTCOME_DETACHED + 1);
	for (int i = 0; i <= OUTCOME_DETACHED; i++) {
		bool found = false;

		for (size_t k = 0; k < json_array_size(list); k++)
			found |= !strcmp(json_string_value(json_array_get(list, k)),
					 outcome_name((enum outcome)i));
		assert_true(found);
	}
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_killed_run_renders_as_its_golden_file),
		cmocka_unit_test(a_run_that_never_started_renders_as_its_golden_file),
		cmocka_unit_test(what_was_not_measured_is_null_and_not_zero),
		cmocka_unit_test(output_that_nobody_counted_is_null),
		cmocka_unit_test(a_diagnostic_is_bounded_on_a_character_boundary),
		cmocka_unit_test(a_clause_that_is_not_enforced_never_reads_as_if_it_were),
		cmocka_unit_test(too_many_clauses_are_said),
		cmocka_unit_test(every_outcome_has_its_exit_status),
		cmocka_unit_test(a_result_that_is_read_back_has_the_same_status),
		cmocka_unit_test(a_command_that_could_not_be_executed_has_the_shells_status),
		cmocka_unit_test(times_are_rfc_3339_with_nanoseconds),
		cmocka_unit_test(the_schema_lists_what_the_tables_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
