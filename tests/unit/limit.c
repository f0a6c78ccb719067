/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "policy/capability.h"
#include "policy/limit.h"
#include "policy/option.h"

static void every_limit_has_a_name_an_option_and_a_known_capability(void **state)
{
	(void)state;
	for (int id = 0; id < LIMIT__COUNT; id++) {
		const struct limit_info *info = &limit_table[id];
		bool found = false;

		assert_non_null(info->name);
		assert_non_null(info->unit);
		if (info->capability)
			assert_true(capability_find(info->capability) >= 0);
		for (size_t i = 0; i < run_option_count; i++)
			if (run_options[i].name && !strcmp(run_options[i].name, info->option))
				found = run_options[i].aux == id;
		if (!found)
			fail_msg("no option row sets %s", info->name);
	}
}

static void the_presets_are_the_published_numbers(void **state)
{
	static const struct {
		const char *name;
		uint64_t wall, output, memory, pids;
	} rows[] = {
		{ "strict", 1000000000ULL, 65536, 128ULL << 20, 32 },
		{ "default", 5000000000ULL, 1 << 20, 512ULL << 20, 128 },
		{ "relaxed", 30000000000ULL, 10 << 20, 2ULL << 30, 512 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spec_limit limits[LIMIT__COUNT] = { 0 };

		assert_int_equal(limit_apply_preset(limits, rows[i].name, NULL), 0);
		assert_true(limits[LIMIT_WALL].value == rows[i].wall);
		assert_true(limits[LIMIT_OUTPUT].value == rows[i].output);
		assert_true(limits[LIMIT_MEMORY].value == rows[i].memory);
		assert_true(limits[LIMIT_PIDS].value == rows[i].pids);
		assert_int_equal(limits[LIMIT_WALL].origin, ORIGIN_PRESET);
		assert_string_equal(limits[LIMIT_WALL].origin_name, rows[i].name);
		assert_int_equal(limits[LIMIT_IDLE].origin, ORIGIN_UNSET);
	}
}

static void what_was_said_beats_the_preset(void **state)
{
	struct spec_limit limits[LIMIT__COUNT] = {
		[LIMIT_WALL] = { .origin = ORIGIN_EXPLICIT, .value = 7 },
		[LIMIT_MEMORY] = { .origin = ORIGIN_WAIVED },
	};

	(void)state;
	assert_int_equal(limit_apply_preset(limits, "strict", NULL), 0);
	assert_true(limits[LIMIT_WALL].value == 7);
	assert_int_equal(limits[LIMIT_WALL].origin, ORIGIN_EXPLICIT);
	assert_int_equal(limits[LIMIT_MEMORY].origin, ORIGIN_WAIVED);
	assert_int_equal(limits[LIMIT_PIDS].value, 32);
}

static void no_limits_is_a_choice_that_is_on_record(void **state)
{
	struct spec_limit limits[LIMIT__COUNT] = { 0 };

	(void)state;
	assert_int_equal(limit_apply_preset(limits, "none", NULL), 0);
	for (int id = 0; id < LIMIT__COUNT; id++) {
		assert_int_equal(limits[id].origin, ORIGIN_WAIVED);
		assert_false(limit_in_force(&limits[id]));
	}
}

static void an_unknown_preset_is_refused_with_the_list(void **state)
{
	struct spec_limit limits[LIMIT__COUNT] = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(limit_apply_preset(limits, "lax", &err), -EINVAL);
	assert_non_null(strstr(err.text, "lax"));
	assert_non_null(strstr(err.text, "relaxed"));
	assert_false(limit_preset_known("lax"));
	assert_true(limit_preset_known("none"));
	assert_int_equal(limits[LIMIT_WALL].origin, ORIGIN_UNSET);
}

static void zero_is_refused_and_none_named_for_every_limit(void **state)
{
	static const char *const texts[] = { "0", "-1" };

	(void)state;
	for (int id = 0; id < LIMIT__COUNT; id++) {
		for (size_t i = 0; i < 2; i++) {
			struct spec_limit limit = { 0 };
			struct err err = { 0 };

			if (id == LIMIT_SWAP && i == 0)
				continue;
			assert_true(limit_parse(&limit, (enum limit_id)id, texts[i], &err) < 0);
			assert_non_null(strstr(err.text, "'none'"));
			assert_int_equal(limit.origin, ORIGIN_UNSET);
		}
	}
}

static void no_swap_at_all_is_a_limit(void **state)
{
	struct spec_limit limit = { 0 };

	(void)state;
	assert_int_equal(limit_parse(&limit, LIMIT_SWAP, "0", NULL), 0);
	assert_int_equal(limit.value, 0);
	assert_true(limit_in_force(&limit));
	assert_int_equal(limit_parse(&limit, LIMIT_SWAP, "none", NULL), 0);
	assert_false(limit_in_force(&limit));
}

static void a_limit_reads_as_people_write_it(void **state)
{
	static const struct {
		enum limit_id id;
		const char *typed;
		uint64_t value;
		const char *shown;
	} rows[] = {
		{ LIMIT_WALL, "1m30s", 90000000000ULL, "90 s" },
		{ LIMIT_MEMORY, "64K", 65536, "64 KiB" },
		{ LIMIT_CPUS, "1.5", 1500, "1.500 CPUs" },
		{ LIMIT_PIDS, "32", 32, "32" },
	};
	char text[40];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spec_limit limit = { 0 };

		assert_int_equal(limit_parse(&limit, rows[i].id, rows[i].typed, NULL), 0);
		assert_int_equal(limit.origin, ORIGIN_EXPLICIT);
		assert_true(limit.value == rows[i].value);
		limit_text(rows[i].id, limit.value, text, sizeof(text));
		assert_string_equal(text, rows[i].shown);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_limit_has_a_name_an_option_and_a_known_capability),
		cmocka_unit_test(the_presets_are_the_published_numbers),
		cmocka_unit_test(what_was_said_beats_the_preset),
		cmocka_unit_test(no_limits_is_a_choice_that_is_on_record),
		cmocka_unit_test(an_unknown_preset_is_refused_with_the_list),
		cmocka_unit_test(zero_is_refused_and_none_named_for_every_limit),
		cmocka_unit_test(no_swap_at_all_is_a_limit),
		cmocka_unit_test(a_limit_reads_as_people_write_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
