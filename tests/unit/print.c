/* SPDX-License-Identifier: Apache-2.0 */
/* What people read: nothing that a sandbox chose may steer their terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/sbxctl/print.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void what_could_steer_a_terminal_is_spelled_out(void **state)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {
		{ "plain", "plain" },
		{ "é€😀", "é€😀" },
		{ "\033[2J", "\\x1b[2J" },
		{ "a\nb\tc\r", "a\\x0ab\\x09c\\x0d" },
		{ "\x7f", "\\x7f" },
		{ "\xc2\x9b"
		  "31m",
		  "\\x9b31m" },
		{ "user\xe2\x80\xaegnp.exe", "user\\u202egnp.exe" },
		{ "\xe2\x81\xa6", "\\u2066" },
		{ "\xff", "\xef\xbf\xbd" },
	};
	char shown[64];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_escape(rows[i].text, shown, sizeof(shown));
		assert_string_equal(shown, rows[i].shown);
	}
}

static void what_does_not_fit_says_so_between_characters(void **state)
{
	char shown[8];

	(void)state;
	print_escape("abcdefg", shown, sizeof(shown));
	assert_string_equal(shown, "abcdefg");
	print_escape("abcdefgh", shown, sizeof(shown));
	assert_string_equal(shown, "abcd…");
	print_escape("ééééé", shown, sizeof(shown));
	assert_string_equal(shown, "éé…");
	print_escape("ab\033cdef", shown, sizeof(shown));
	assert_string_equal(shown, "ab…");
}

static void every_size_is_respected(void **state)
{
	static const char text[] = "a\033é😀\xff\xe2\x80\xae zz";
	char shown[80];

	(void)state;
	for (size_t size = 4; size < sizeof(shown); size++) {
		memset(shown, 'X', sizeof(shown));
		print_escape(text, shown, size);
		assert_true(memchr(shown, 0, size) != NULL);
		assert_int_equal(shown[size], 'X');
	}
}

static char *printed(const struct table *t, bool color)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(table_print(t, out, color), 0);
	fclose(out);
	return text;
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
	static const char *const heads[] = { "A", "LONG", "LAST" };
	struct table t;
	char *text;

	(void)state;
	table_init(&t, heads, 3);
	table_cell(&t, PRINT_PLAIN, "ééé");
	table_cell(&t, PRINT_PLAIN, "%s", "");
	table_cell(&t, PRINT_PLAIN, "x y");
	table_cell(&t, PRINT_PLAIN, "b");
	table_cell(&t, PRINT_PLAIN, "\033");
	table_cell(&t, PRINT_PLAIN, "%d", 7);
	text = printed(&t, false);
	assert_string_equal(text, "A    LONG  LAST\n"
				  "ééé  -     x y\n"
				  "b    \\x1b  7\n");
	free(text);
	table_done(&t);
}

static void colour_surrounds_a_cell_and_moves_nothing(void **state)
{
	static const char *const heads[] = { "A", "B" };
	struct table t;
	char *text;

	(void)state;
	table_init(&t, heads, 2);
	table_cell(&t, PRINT_BAD, "no");
	table_cell(&t, PRINT_PLAIN, "x");
	text = printed(&t, true);
	assert_string_equal(text, "A   B\n\033[31mno\033[0m  x\n");
	free(text);
	text = printed(&t, false);
	assert_null(strchr(text, '\033'));
	free(text);
	table_done(&t);
}

static void a_table_grows(void **state)
{
	static const char *const heads[] = { "N" };
	struct table t;

	(void)state;
	table_init(&t, heads, 1);
	for (int i = 0; i < 1000; i++)
		table_cell(&t, PRINT_PLAIN, "%d", i);
	assert_int_equal(t.count, 1000);
	assert_string_equal(t.cells[999], "999");
	assert_string_equal(t.cells[63], "63");
	table_done(&t);
}

static void durations_and_sizes_are_short(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} durations[] = {
		{ 0, "0ms" },
		{ 999999999, "999ms" },
		{ 1000000000, "1.0s" },
		{ 59990000000, "59.9s" },
		{ 245000000000, "4m05s" },
		{ 11520000000000, "3h12m" },
		{ 187200000000000, "2d4h" },
		{ UINT64_MAX, "-" },
	};
	static const struct {
		uint64_t bytes;
		const char *text;
	} sizes[] = {
		{ 0, "0B" },	    { 999, "999B" },	    { 1000, "1.0K" },
		{ 65536, "64.0K" }, { 1610612736, "1.5G" }, { UINT64_MAX, "-" },
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < COUNT(durations); i++) {
		print_duration(durations[i].ns, text, sizeof(text));
		assert_string_equal(text, durations[i].text);
	}
	for (size_t i = 0; i < COUNT(sizes); i++) {
		print_size(sizes[i].bytes, text, sizeof(text));
		assert_string_equal(text, sizes[i].text);
	}
}

static void colour_is_for_terminals_unless_asked_for(void **state)
{
	struct err err = { 0 };
	FILE *out = tmpfile();
	bool color = true;

	(void)state;
	assert_int_equal(print_color_when(NULL, out, &color, &err), 0);
	assert_false(color);
	assert_int_equal(print_color_when("always", out, &color, &err), 0);
	assert_true(color);
	assert_int_equal(print_color_when("never", out, &color, &err), 0);
	assert_false(color);
	assert_true(print_color_when("often", out, &color, &err) < 0);
	assert_non_null(strstr(err.text, "often"));
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_could_steer_a_terminal_is_spelled_out),
		cmocka_unit_test(what_does_not_fit_says_so_between_characters),
		cmocka_unit_test(every_size_is_respected),
		cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
		cmocka_unit_test(colour_surrounds_a_cell_and_moves_nothing),
		cmocka_unit_test(a_table_grows),
		cmocka_unit_test(durations_and_sizes_are_short),
		cmocka_unit_test(colour_is_for_terminals_unless_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
