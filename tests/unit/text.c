/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BAD "\xef\xbf\xbd"

static void a_cut_never_ends_inside_a_character(void **state)
{
	static const struct {
		const char *bytes;
		size_t max, want;
	} rows[] = {
		{ "abc", 2, 2 },	{ "abc", 9, 3 }, { "abc", 0, 0 }, { "é", 1, 0 },
		{ "aé", 2, 1 },		{ "aé", 3, 3 },	 { "a€", 2, 1 },  { "a€", 3, 1 },
		{ "a€", 4, 4 },		{ "😀", 3, 0 },	 { "x😀", 4, 1 },  { "x😀", 5, 5 },
		{ "ab\xe2\x82", 9, 2 }, /* the text itself ends inside one */
		{ "ab\x82\x82", 9, 4 }, /* no character at all: nothing to protect */
		{ "\xe0\x80x", 2, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (text_cut_head(rows[i].bytes, strlen(rows[i].bytes), rows[i].max) !=
		    rows[i].want)
			fail_msg("row %zu", i);
}

static void a_tail_starts_on_a_character(void **state)
{
	static const struct {
		const char *bytes;
		size_t max, want;
	} rows[] = {
		{ "abc", 2, 1 }, { "abc", 3, 0 },	   { "abc", 0, 3 }, { "éa", 2, 2 },
		{ "éa", 3, 0 },	 { "€a", 2, 3 },	   { "€a", 3, 3 },  { "€a", 4, 0 },
		{ "😀x", 4, 4 },	 { "\x82\x82\x82", 2, 1 }, { "é€", 3, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (text_cut_tail(rows[i].bytes, strlen(rows[i].bytes), rows[i].max) !=
		    rows[i].want)
			fail_msg("row %zu", i);
}

static void every_cut_of_valid_text_is_valid(void **state)
{
	static const char text[] =
		"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z\xed\x9f\xbf\xf4\x8f\xbf\xbf";
	size_t len = strlen(text);

	(void)state;
	for (size_t max = 0; max <= len + 1; max++) {
		size_t head = text_cut_head(text, len, max), tail = text_cut_tail(text, len, max);

		assert_true(head <= max && len - tail <= max);
		assert_true(text_valid(text, head));
		assert_true(text_valid(text + tail, len - tail));
	}
}

static void only_well_formed_utf8_is_valid(void **state)
{
	static const struct {
		const char *bytes;
		bool valid;
	} rows[] = {
		{ "", true },
		{ "plain", true },
		{ "\xc2\x80", true },
		{ "\xef\xbf\xbf", true },
		{ "\xc0\x80", false }, /* overlong NUL */
		{ "\xc1\xbf", false },
		{ "\xe0\x9f\xbf", false }, /* overlong */
		{ "\xf0\x8f\xbf\xbf", false },
		{ "\xed\xa0\x80", false },     /* surrogate */
		{ "\xf4\x90\x80\x80", false }, /* beyond U+10FFFF */
		{ "\xf5\x80\x80\x80", false },
		{ "\xff", false },
		{ "a\x80", false },
		{ "\xe2\x82", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (text_valid(rows[i].bytes, strlen(rows[i].bytes)) != rows[i].valid)
			fail_msg("row %zu", i);
	assert_true(text_valid("a\0b", 3));
}

static void invalid_bytes_are_replaced_and_said(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *want;
		bool lossy;
	} rows[] = {
		{ "ok é", 5, "ok é", false },
		{ "a\xff"
		  "b",
		  3, "a" BAD "b", true },
		{ "\xe2\x82", 2, BAD, true }, /* one for a maximal subpart */
		{ "\xe2\x82x", 3, BAD "x", true },
		{ "\xc0\x80", 2, BAD BAD, true },
		{ "\xed\xa0\x80", 3, BAD BAD BAD, true },
		{ "\xf0\x9f\x98", 3, BAD, true },
		{ "", 0, "", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t len;
		bool lossy;
		char *text = text_to_utf8(rows[i].bytes, rows[i].len, &len, &lossy);

		assert_non_null(text);
		assert_string_equal(text, rows[i].want);
		assert_int_equal(len, strlen(rows[i].want));
		assert_int_equal(lossy, rows[i].lossy);
		free(text);
	}
}

static void a_nul_byte_stays_in_converted_text(void **state)
{
	size_t len;
	bool lossy;
	char *text = text_to_utf8("a\0b", 3, &len, &lossy);

	(void)state;
	assert_non_null(text);
	assert_int_equal(len, 3);
	assert_memory_equal(text, "a\0b", 4);
	free(text);
}

static void a_line_has_nothing_that_moves_a_cursor(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "plain é", "plain é" },
		{ "two\nlines\r", "two?lines?" },
		{ "\x1b[31mred", "?[31mred" },
		{ "\xc2\x9b"
		  "31m",
		  "?31m" }, /* C1 CSI */
		{ "\x7f\x01", "??" },
		{ "bad\xff\xe2\x82", "bad??" },
		{ "", "" },
	};
	char text[40];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		strcpy(text, rows[i].text);
		text_line(text);
		assert_string_equal(text, rows[i].want);
	}
}

static void globs_match_whole_names(void **state)
{
	static const struct {
		const char *pattern, *name;
		bool match;
	} rows[] = {
		{ "LC_*", "LC_ALL", true },
		{ "LC_*", "LC_", true },
		{ "LC_*", "XLC_ALL", false },
		{ "*", "", true },
		{ "*", "x", true },
		{ "", "", true },
		{ "", "x", false },
		{ "?", "x", true },
		{ "?", "", false },
		{ "a*b*c", "aXXbYYc", true },
		{ "a*b*c", "aXXcYYb", false },
		{ "a**c", "abc", true },
		{ "A", "a", false },
		{ "*_KEY", "A_KEY_KEY", true },
		{ "[ab]", "a", false },
		{ "[ab]", "[ab]", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (text_glob(rows[i].pattern, rows[i].name) != rows[i].match)
			fail_msg("%s %s", rows[i].pattern, rows[i].name);
}

static void a_glob_of_many_stars_is_still_fast(void **state)
{
	char pattern[201], name[4097];

	(void)state;
	for (int i = 0; i < 200; i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[200] = '\0';
	memset(name, 'a', 4096);
	name[4095] = 'b';
	name[4096] = '\0';
	assert_false(text_glob(pattern, name));
}

static void a_typo_finds_what_was_meant(void **state)
{
	static const char *const names[] = { "--timeout", "--memory", "--tree", "--net",
					     "--stdin" };
	static const struct {
		const char *word, *want;
	} rows[] = {
		{ "--timout", "--timeout" },
		{ "--tiemout", "--timeout" },
		{ "--mem", "--memory" },
		{ "--memroy", "--memory" },
		{ "--trea", "--tree" },
		{ "--time", "--timeout" },
		{ "--xyzzy", NULL },
		{ "", NULL },
		{ "-", NULL },
	};
	char long_word[200];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got = text_nearest(rows[i].word, names, COUNT(names));

		if (!rows[i].want)
			assert_null(got);
		else
			assert_string_equal(got, rows[i].want);
	}
	memset(long_word, 'x', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	assert_null(text_nearest(long_word, names, COUNT(names)));
	assert_null(text_nearest("word", names, 0));
}

static void a_path_is_settled_by_its_text(void **state)
{
	static const struct {
		const char *base, *path, *want;
	} rows[] = {
		{ "/w", "a/b", "/w/a/b" }, { "/w", "/a//b/", "/a/b" },
		{ "/w", "../x", "/x" },	   { "/w", "./a/./b", "/w/a/b" },
		{ "/w/v", "..", "/w" },	   { "/", "../../..", "/" },
		{ "/w", "", "/w" },	   { "/w", "a/../../b", "/b" },
		{ "/", "...", "/..." },
	};
	char out[16];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(text_path(rows[i].base, rows[i].path, out, sizeof(out)), 0);
		assert_string_equal(out, rows[i].want);
	}
	assert_int_equal(text_path("/", "0123456789abcde", out, sizeof(out)), -ENAMETOOLONG);
	assert_int_equal(text_path("/", "0123456789abcd", out, sizeof(out)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_settled_by_its_text),
		cmocka_unit_test(a_cut_never_ends_inside_a_character),
		cmocka_unit_test(a_tail_starts_on_a_character),
		cmocka_unit_test(every_cut_of_valid_text_is_valid),
		cmocka_unit_test(only_well_formed_utf8_is_valid),
		cmocka_unit_test(invalid_bytes_are_replaced_and_said),
		cmocka_unit_test(a_nul_byte_stays_in_converted_text),
		cmocka_unit_test(a_line_has_nothing_that_moves_a_cursor),
		cmocka_unit_test(globs_match_whole_names),
		cmocka_unit_test(a_glob_of_many_stars_is_still_fast),
		cmocka_unit_test(a_typo_finds_what_was_meant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
