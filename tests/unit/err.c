/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/text.h"

static void an_error_returns_its_code_and_says_why(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(err_set(&err, -ENOENT, "open '%s'", "/x"), -ENOENT);
	assert_string_equal(err.text, "open '/x': No such file or directory");
	assert_int_equal(err.category, ERR_NOT_FOUND);
	assert_int_equal(err.code, -ENOENT);
}

static void a_bad_argument_speaks_for_itself(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(err_set(&err, -EINVAL, "no"), -EINVAL);
	assert_string_equal(err.text, "no");
	assert_int_equal(err_say(&err, ERR_BUSY, -EBUSY, "held"), -EBUSY);
	assert_string_equal(err.text, "held");
	assert_int_equal(err.category, ERR_BUSY);
}

static void a_code_that_is_no_error_becomes_one(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(err_set(&err, 0, "x"), -EINVAL);
	assert_int_equal(err_set(&err, 5, "x"), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
}

static void nobody_need_listen(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, -EIO, "x"), -EIO);
	assert_int_equal(err_cannot(NULL, "memory_cap", "x"), -EOPNOTSUPP);
	assert_int_equal(err_prefix(NULL, "x"), -EINVAL);
}

static void what_a_host_cannot_do_names_the_capability(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(err_cannot(&err, "memory_cap", "no %s controller", "memory"), -EOPNOTSUPP);
	assert_string_equal(err.capability, "memory_cap");
	assert_string_equal(err.text, "no memory controller");
	assert_string_equal(err_category_name(err.category), "cannot_enforce");

	err_set(&err, -EIO, "x");
	assert_string_equal(err.capability, "");
}

static void a_prefix_goes_in_front(void **state)
{
	struct err err;

	(void)state;
	err_set(&err, -EACCES, "open");
	assert_int_equal(err_prefix(&err, "start %d", 7), -EACCES);
	assert_string_equal(err.text, "start 7: open: Permission denied");
}

static void a_long_text_is_cut_on_a_character(void **state)
{
	char name[4001];
	struct err err;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(name); i += 2)
		memcpy(name + i, "\xc3\xa9", 2);
	name[4000] = '\0';

	err_say(&err, ERR_INTERNAL, -EIO, "x%s", name);
	assert_true(strlen(err.text) >= sizeof(err.text) - 4);
	assert_true(text_valid(err.text, strlen(err.text)));
	assert_null(strchr(err.text, '?'));
	err_prefix(&err, "y");
	assert_true(text_valid(err.text, strlen(err.text)));
	assert_null(strchr(err.text, '?'));
}

static void a_hostile_name_cannot_write_to_the_terminal(void **state)
{
	struct err err;

	(void)state;
	err_say(&err, ERR_INTERNAL, -EIO, "open '%s'", "a\n\x1b[2Jb\xff");
	assert_string_equal(err.text, "open 'a??[2Jb?'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_returns_its_code_and_says_why),
		cmocka_unit_test(a_bad_argument_speaks_for_itself),
		cmocka_unit_test(a_code_that_is_no_error_becomes_one),
		cmocka_unit_test(nobody_need_listen),
		cmocka_unit_test(what_a_host_cannot_do_names_the_capability),
		cmocka_unit_test(a_prefix_goes_in_front),
		cmocka_unit_test(a_long_text_is_cut_on_a_character),
		cmocka_unit_test(a_hostile_name_cannot_write_to_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
