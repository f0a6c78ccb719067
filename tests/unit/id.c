/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "kern/kern.h"

static void an_id_survives_its_text(void **state)
{
	char text[SBX_ID_LEN + 1];
	uint64_t back;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint64_t id = kern_id_new();

		assert_in_range(id, 1, (1ull << 50) - 1);
		kern_id_text(id, text);
		assert_int_equal(strlen(text), SBX_ID_LEN);
		assert_int_equal(strspn(text, "abcdefghijklmnopqrstuvwxyz234567"), SBX_ID_LEN);
		assert_int_equal(kern_id_parse(text, &back), 0);
		assert_int_equal(back, id);
	}
}

static void ids_differ(void **state)
{
	(void)state;
	assert_int_not_equal(kern_id_new(), kern_id_new());
}

static void the_digits_are_a_to_z_and_2_to_7(void **state)
{
	char text[SBX_ID_LEN + 1];
	uint64_t id;

	(void)state;
	kern_id_text(1, text);
	assert_string_equal(text, "aaaaaaaaab");
	assert_int_equal(kern_id_parse("aaaaaaaaa7", &id), 0);
	assert_int_equal(id, 31);
	assert_int_equal(kern_id_parse("7777777777", &id), 0);
	assert_int_equal(id, (1ull << 50) - 1);
}

static void what_is_no_id_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"a",
		"aaaaaaaaa",
		"aaaaaaaaaab",
		"aaaaaaaaa1",
		"aaaaaaaaa8",
		"AAAAAAAAAB",
		"aaaa aaaab",
		"aaaaaaaaaa" /* 0 is none */,
	};
	uint64_t id = 42;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(kern_id_parse(bad[i], &id), -EINVAL);
	assert_int_equal(id, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_survives_its_text),
		cmocka_unit_test(ids_differ),
		cmocka_unit_test(the_digits_are_a_to_z_and_2_to_7),
		cmocka_unit_test(what_is_no_id_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
