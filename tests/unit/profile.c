/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "policy/profile.h"
#include "policy/profile_key.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int parse(struct profile *p, const char *text, struct err *err)
{
	return profile_parse(p, "ci", "/p/ci", text, strlen(text), err);
}

static void parse_well(struct profile *p, const char *text)
{
	struct err err = { 0 };

	if (parse(p, text, &err) < 0)
		fail_msg("%s", err.text);
}

static void every_key_has_one_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < profile_key_count; i++) {
		const struct profile_key *a = &profile_keys[i];

		assert_true(a->section && a->name && a->arg && a->help);
		assert_true(!a->set == !!a->refused);
		for (size_t j = 0; j < i; j++)
			assert_true(strcmp(profile_keys[j].name, a->name) != 0);
	}
}

static void lists_become_one_setting_a_word(void **state)
{
	static const struct {
		const char *key, *value;
		unsigned int line, column;
	} wanted[] = {
		{ "Read", "/", 3, 6 },	      { "Read", "-%h", 3, 10 },
		{ "Read", "/a b/c", 4, 7 },   { "Deny", "~/.cargo/credentials*", 6, 10 },
		{ "Deny", NULL, 7, 1 },	      { "TasksMax", "10 24", 9, 12 },
		{ "Set", "A=b c", 11, 5 },    { "Set", "B=", 11, 13 },
		{ "Set", "C=x=\\y", 11, 16 },
	};
	struct profile p;

	(void)state;
	parse_well(&p, "# one\n[Filesystem]\nRead=/   -%h\n Read=\"/a b\"/c\n;\n\tDeny =  "
		       "~/.cargo/credentials*  \nDeny=\n[Limits]\nTasksMax = 10 24\t\n"
		       "[Environment]\nSet=\"A=b c\" B= C=x=\\y\n");
	assert_int_equal(p.count, COUNT(wanted));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		const struct profile_setting *s = &p.settings[i];

		assert_string_equal(s->key->name, wanted[i].key);
		if (wanted[i].value)
			assert_string_equal(s->value, wanted[i].value);
		else
			assert_null(s->value);
		if (s->line != wanted[i].line || s->column != wanted[i].column)
			fail_msg("%s at %u:%u", wanted[i].key, s->line, s->column);
	}
	assert_null(p.extends);
	profile_done(&p);
}

static void extends_stands_before_the_sections(void **state)
{
	struct profile p;

	(void)state;
	parse_well(&p, "\n  Extends = agent-base \n[Limits]\n");
	assert_string_equal(p.extends, "agent-base");
	assert_int_equal(p.extends_line, 2);
	assert_int_equal(p.count, 0);
	profile_done(&p);
	parse_well(&p, "");
	assert_null(p.extends);
	profile_done(&p);
}

static void errors_carry_the_place_and_the_nearest_name(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "[Filesystem]\n  Raed=/\n", "/p/ci:2:3: unknown key Raed=; did you mean Read=?" },
		{ "[Filesystem]\nXyzzyx=/\n", "/p/ci:2:1: unknown key Xyzzyx=" },
		{ "[Filesystm]\n",
		  "/p/ci:1:2: unknown section [Filesystm]; did you mean [Filesystem]?" },
		{ "[Xyzzy123]\n", "/p/ci:1:2: unknown section [Xyzzy123]" },
		{ "[Limits\n", "/p/ci:1:1: not of the form [Section]" },
		{ "[Limits] x\n", "/p/ci:1:1: not of the form [Section]" },
		{ "[Limits]\nRead=/\n", "/p/ci:2:1: Read= belongs into [Filesystem]" },
		{ "Read=/\n", "/p/ci:1:1: Read= belongs into [Filesystem]" },
		{ "Extend=x\n", "/p/ci:1:1: unknown key Extend=; did you mean Extends=?" },
		{ "[Limits]\nExtends=x\n", "/p/ci:2:1: unknown key Extends=" },
		{ "Extends=\n", "/p/ci:1:9: '' is not a profile's name" },
		{ "Extends=a b\n", "/p/ci:1:9: 'a b' is not" },
		{ "Extends=../x\n", "is not a profile's name" },
		{ "Extends=a\nExtends=a\n", "/p/ci:2:9: Extends= is given twice" },
		{ "[Limits]\nTasksMax\n", "/p/ci:2:1: neither a comment, nor [Section], nor" },
		{ "[Filesystem]\nRead=/a \"/b\n", "/p/ci:2:9: a quote that is not closed" },
		{ "[Filesystem]\nRead=/a \"\"\n", "/p/ci:2:9: an empty word" },
		{ "[Filesystem]\nRead=/a \\\n", "/p/ci:2:9: lines are not continued" },
		{ "[Limits]\r\n", "/p/ci:1:9: a control character" },
		{ "#\xff\n", "/p/ci:1:1: not UTF-8" },
		{ "[Process]\nSeccomp=strict\n",
		  "/p/ci:2:1: Seccomp=: filters of system calls are not" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };
		struct profile p;

		if (parse(&p, rows[i].text, &err) >= 0)
			fail_msg("row %zu is accepted", i);
		if (strncmp(err.text, rows[i].says, strlen(rows[i].says)) != 0 &&
		    !strstr(err.text, rows[i].says))
			fail_msg("row %zu: '%s'", i, err.text);
		assert_int_equal(p.count, 0);
		assert_null(p.name);
	}
}

static void compiled_in_profiles_are_named_by_line(void **state)
{
	struct err err = { 0 };
	struct profile p;
	char place[64];

	(void)state;
	assert_true(profile_parse(&p, "default", NULL, "\n[x]", 4, &err) < 0);
	assert_int_equal(strncmp(err.text, "profile default, line 2: ", 25), 0);
	assert_int_equal(profile_parse(&p, "default", NULL, "", 0, &err), 0);
	profile_origin(&p, 12, 3, place, sizeof(place));
	assert_string_equal(place, "profile default, line 12");
	profile_done(&p);
}

static void sizes_are_bounded(void **state)
{
	static char text[PROFILE_BYTES_MAX + 2];
	struct err err = { 0 };
	struct profile p;
	size_t len = 0;

	(void)state;
	memset(text, '\n', sizeof(text));
	assert_int_equal(profile_parse(&p, "x", NULL, text, PROFILE_BYTES_MAX, &err), 0);
	profile_done(&p);
	assert_true(profile_parse(&p, "x", NULL, text, PROFILE_BYTES_MAX + 1, &err) < 0);
	assert_non_null(strstr(err.text, "more than 64 KiB"));
	assert_true(profile_parse(&p, "x", NULL, "#\0\n", 3, &err) < 0);
	assert_non_null(strstr(err.text, "NUL"));

	len += (size_t)sprintf(text, "[Filesystem]\nRead=");
	for (int i = 0; i <= PROFILE_SETTINGS_MAX; i++)
		len += (size_t)sprintf(text + len, "a ");
	assert_true(profile_parse(&p, "x", "/x", text, len, &err) < 0);
	assert_non_null(strstr(err.text, "/x:2:8198: more than 4096 settings"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_has_one_row),
		cmocka_unit_test(lists_become_one_setting_a_word),
		cmocka_unit_test(extends_stands_before_the_sections),
		cmocka_unit_test(errors_carry_the_place_and_the_nearest_name),
		cmocka_unit_test(compiled_in_profiles_are_named_by_line),
		cmocka_unit_test(sizes_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
