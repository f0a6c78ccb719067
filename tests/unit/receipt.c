/* SPDX-License-Identifier: Apache-2.0 */
/* What a sweep may say about a run whose keeper died. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/receipt.h"
#include "run/result.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define STATUS_KILLED 9
#define STATUS_EXIT_42 (42 << 8)
#define STATUS_CORE (11 | 0x80)

static json_t *applied(const struct receipt *receipt)
{
	struct rundir d = { .path = "/nowhere", .fd = -1 };
	struct result r;
	json_t *json;

	result_init(&r);
	r.started_unix_ns = 5;
	r.limits[LIMIT_WALL].asked = (struct spec_limit){ ORIGIN_EXPLICIT, 7000, "" };
	r.limits[LIMIT_EXECS].asked = (struct spec_limit){ ORIGIN_EXPLICIT, 3, "" };
	json = result_json(&r);
	result_done(&r);
	assert_int_equal(receipt_apply(receipt, json, &d), 0);
	return json;
}

static const char *text_at(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text ? text : "null";
}

static void the_end_is_what_the_evidence_says(void **state)
{
	static const struct {
		uint32_t flags, status;
		uint64_t execs;
		const char *outcome, *killed_by;
		int exit_code, signal; /* -1: null */
	} rows[] = {
		{ SBX_ROOT_EXITED, STATUS_EXIT_42, 1, "exited", "null", 42, -1 },
		/* It had ended before the keeper's death killed the rest. */
		{ SBX_ROOT_EXITED | SBX_OWNER_DIED | SBX_DYING, STATUS_EXIT_42, 1, "exited", "null",
		  42, -1 },
		{ SBX_ROOT_EXITED | SBX_OWNER_DIED | SBX_DYING, STATUS_KILLED, 1, "owner_exited",
		  "owner", -1, 9 },
		/* A crash of its own, whatever died later. */
		{ SBX_ROOT_EXITED | SBX_OWNER_DIED, STATUS_CORE, 1, "signaled", "null", -1, 11 },
		/* A SIGKILL nobody here sent is nobody's we know. */
		{ SBX_ROOT_EXITED, STATUS_KILLED, 1, "signaled", "null", -1, 9 },
		{ SBX_ROOT_EXITED | SBX_ANCESTOR_DIED, STATUS_KILLED, 1, "cancelled", "ancestor",
		  -1, 9 },
		{ SBX_ROOT_EXITED | SBX_EXECS_HIT | SBX_OWNER_DIED, STATUS_KILLED, 4,
		  "limit_exceeded", "execs", -1, 9 },
		/* Killed while it still waited for its release. */
		{ SBX_ROOT_EXITED | SBX_OWNER_DIED, STATUS_KILLED, 0, "could_not_run", "null", -1,
		  -1 },
		{ SBX_OWNER_DIED | SBX_DYING, 0, 1, "unknown", "null", -1, -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct receipt receipt = { .has_row = true, .this_boot = true };
		json_t *json, *code, *sig;

		receipt.row.flags = rows[i].flags;
		receipt.row.root_status = rows[i].status;
		receipt.row.execs = rows[i].execs;
		json = applied(&receipt);
		code = json_object_get(json, "exit_code");
		sig = json_object_get(json, "signal");
		if (strcmp(text_at(json, "outcome"), rows[i].outcome) ||
		    strcmp(text_at(json, "killed_by"), rows[i].killed_by) ||
		    (json_is_null(code) ? -1 : json_integer_value(code)) != rows[i].exit_code ||
		    (json_is_null(sig) ? -1 : json_integer_value(sig)) != rows[i].signal)
			fail_msg("row %zu: %s", i, json_dumps(json, 0));
		assert_true(*text_at(json, "diagnostic"));
		json_decref(json);
	}
}

static void without_a_row_nothing_is_known(void **state)
{
	struct receipt receipt = { .this_boot = true };
	json_t *json = applied(&receipt);

	(void)state;
	assert_string_equal(text_at(json, "outcome"), "unknown");
	assert_non_null(strstr(text_at(json, "diagnostic"), "no evidence"));
	json_decref(json);
	receipt.this_boot = false;
	json = applied(&receipt);
	assert_string_equal(text_at(json, "outcome"), "unknown");
	assert_non_null(strstr(text_at(json, "diagnostic"), "restarted"));
	json_decref(json);
}

static void what_the_keeper_took_with_it_is_null(void **state)
{
	struct receipt receipt = { .has_row = true, .this_boot = true };
	json_t *json, *out, *times;

	(void)state;
	receipt.row.flags = SBX_ROOT_EXITED;
	receipt.row.execs = 1;
	receipt.row.root_start_ns = 1000;
	receipt.row.root_exit_ns = 5000;
	receipt.row.processes = 7;
	receipt.row.live_processes = 2;
	json = applied(&receipt);
	out = json_object_get(json_object_get(json, "output"), "stdout");
	assert_true(json_is_null(json_object_get(out, "bytes")));
	assert_true(json_is_null(json_object_get(out, "text")));
	assert_true(json_is_true(json_object_get(out, "truncated")));
	times = json_object_get(json, "times");
	assert_int_equal(json_integer_value(json_object_get(times, "wall_ns")), 4000);
	assert_int_equal(json_integer_value(json_object_get(times, "deadline_ns")), 7000);
	assert_true(json_is_string(json_object_get(times, "ended")));
	out = json_object_get(json, "tree");
	assert_int_equal(json_integer_value(json_object_get(out, "processes")), 7);
	assert_int_equal(json_integer_value(json_object_get(out, "survivors")), 2);
	json_decref(json);
}

static void a_crossed_budget_names_both_numbers(void **state)
{
	struct receipt receipt = { .has_row = true, .this_boot = true };
	json_t *json, *limit;

	(void)state;
	receipt.row.flags = SBX_ROOT_EXITED | SBX_EXECS_HIT;
	receipt.row.root_status = STATUS_KILLED;
	receipt.row.execs = 4;
	json = applied(&receipt);
	limit = json_object_get(json, "limit");
	assert_string_equal(text_at(limit, "kind"), "execs");
	assert_int_equal(json_integer_value(json_object_get(limit, "configured")), 3);
	assert_int_equal(json_integer_value(json_object_get(limit, "actual")), 4);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_is_what_the_evidence_says),
		cmocka_unit_test(without_a_row_nothing_is_known),
		cmocka_unit_test(what_the_keeper_took_with_it_is_null),
		cmocka_unit_test(a_crossed_budget_names_both_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
