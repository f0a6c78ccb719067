/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "run/tree.h"

static void say(struct tree *t, uint32_t kind, uint32_t pid, uint32_t ppid, uint32_t status,
		uint64_t when)
{
	struct sbx_event e = { .kind = kind,
			       .pid = pid,
			       .ppid = ppid,
			       .status = status,
			       .time_ns = when,
			       .start_ns = 1,
			       .comm = "x" };

	tree_event(t, &e);
}

static void a_failing_middle_stage_has_its_own_record(void **state)
{
	struct tree t = { 0 };
	struct result r;

	(void)state;
	result_init(&r);
	say(&t, SBX_EVENT_FORK, 10, 1, 0, 5);
	say(&t, SBX_EVENT_FORK, 11, 10, 0, 6);
	say(&t, SBX_EVENT_EXIT, 11, 10, 1 << 8, 7);
	say(&t, SBX_EVENT_EXIT, 10, 1, 0, 8);
	tree_finish(&t, &r);
	assert_int_equal(r.record_count, 2);
	assert_int_equal(r.records[0].exit_code, 0);
	assert_int_equal(r.records[1].exit_code, 1);
	assert_int_equal(r.records[1].signal, -1);
	assert_int_equal(r.records[1].ppid, 10);
	tree_done(&t);
	result_done(&r);
}

static void a_signal_is_no_exit_code(void **state)
{
	struct tree t = { 0 };

	(void)state;
	say(&t, SBX_EVENT_EXIT, 10, 1, 9, 7);
	assert_int_equal(t.records[0].exit_code, -1);
	assert_int_equal(t.records[0].signal, 9);
	tree_done(&t);
}

static void a_reused_number_gets_a_record_of_its_own(void **state)
{
	struct tree t = { 0 };

	(void)state;
	say(&t, SBX_EVENT_FORK, 10, 1, 0, 5);
	say(&t, SBX_EVENT_EXIT, 10, 1, 0, 6);
	say(&t, SBX_EVENT_FORK, 10, 1, 0, 7);
	say(&t, SBX_EVENT_EXIT, 10, 1, 3 << 8, 8);
	assert_int_equal(t.count, 2);
	assert_int_equal(t.records[0].exit_code, 0);
	assert_int_equal(t.records[1].exit_code, 3);
	tree_done(&t);
}

static void what_does_not_fit_is_counted(void **state)
{
	struct tree t = { 0 };

	(void)state;
	for (uint32_t pid = 1; pid <= RESULT_RECORDS_MAX + 7; pid++) {
		say(&t, SBX_EVENT_FORK, pid, 1, 0, 1);
		say(&t, SBX_EVENT_EXIT, pid, 1, 0, 2);
	}
	assert_int_equal(t.count, RESULT_RECORDS_MAX);
	assert_int_equal(t.dropped, 7);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failing_middle_stage_has_its_own_record),
		cmocka_unit_test(a_signal_is_no_exit_code),
		cmocka_unit_test(a_reused_number_gets_a_record_of_its_own),
		cmocka_unit_test(what_does_not_fit_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
