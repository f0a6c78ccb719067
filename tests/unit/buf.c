/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

static void a_buffer_grows_and_stays_terminated(void **state)
{
	struct buf b = { 0 };

	(void)state;
	for (int i = 0; i < 10000; i++)
		assert_int_equal(buf_add(&b, "ab", 2), 0);
	assert_int_equal(b.len, 20000);
	assert_int_equal(strlen(b.data), 20000);
	assert_int_equal(buf_printf(&b, "%d-%s", 7, "x"), 0);
	assert_string_equal(b.data + 20000, "7-x");
	buf_done(&b);
	assert_null(b.data);
	buf_done(&b);
}

static void a_buffer_refuses_to_pass_its_bound(void **state)
{
	struct buf b = { .max = 10 };

	(void)state;
	assert_int_equal(buf_add(&b, "12345678", 8), 0);
	assert_int_equal(buf_add(&b, "abc", 3), -ENOBUFS);
	assert_int_equal(buf_printf(&b, "%s", "abc"), -ENOBUFS);
	assert_string_equal(b.data, "12345678");
	assert_int_equal(buf_add(&b, "9a", 2), 0);
	assert_int_equal(buf_add(&b, "", 0), 0);
	assert_int_equal(buf_add(&b, "b", (size_t)-1), -ENOBUFS);
	assert_string_equal(b.data, "123456789a");
	buf_done(&b);
}

static void an_unbounded_buffer_still_has_a_bound(void **state)
{
	static char block[1 << 20];
	struct buf b = { 0 };
	int r = 0, blocks = 0;

	(void)state;
	while (!r && blocks < 100) {
		r = buf_add(&b, block, sizeof(block));
		blocks += !r;
	}
	assert_int_equal(r, -ENOBUFS);
	assert_int_equal(blocks, 16);
	buf_done(&b);
}

static void bytes_that_are_nul_count(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(buf_add(&b, "a\0b", 3), 0);
	assert_int_equal(b.len, 3);
	assert_memory_equal(b.data, "a\0b", 4);
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_buffer_grows_and_stays_terminated),
		cmocka_unit_test(a_buffer_refuses_to_pass_its_bound),
		cmocka_unit_test(an_unbounded_buffer_still_has_a_bound),
		cmocka_unit_test(bytes_that_are_nul_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
