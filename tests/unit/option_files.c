/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "option_words.h"

/* What is typed, and what the one line must say. */
static const struct {
	const char *words[4];
	const char *says;
} bad_input[] = {
	{ { "--net", "off" }, "--net off: not one of none, allow, host" },
	{ { "--net=hots" }, "--net hots: not one of none, allow, host" },
	{ { "--deny", "-" }, "--deny -: not a path" },
	{ { "--ro=" }, "--ro: its value is empty" },
	{ { "--mount", "/a" }, "--mount /a: not of the form SRC:DST" },
	{ { "--mount", ":/a" }, "not of the form" },
	{ { "--mount", "/a:" }, "not of the form" },
	{ { "--mount", "/a:ro" }, "not of the form" },
	{ { "--mount", "/a:/b:rw" }, "not of the form" },
	{ { "--mount", "/a:b" }, "DST is not an absolute path" },
	{ { "--mount", "/a:/b/../c" }, "DST is not an absolute path" },
	{ { "--mount", "/a://" }, "DST is not an absolute path" },
	{ { "--mount=/a:/b", "--mount=/c:/b:ro" }, "something is mounted there already" },
	{ { "--cache", "here" }, "--cache here: not an absolute path" },
	{ { "--cache=/a", "--cache=/b" }, "--cache: given twice" },
};

static void bad_paths_are_refused_and_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_input) / sizeof(bad_input[0]); i++) {
		struct err err = { 0 };
		struct spec spec;
		int used;

		if (parse(&spec, bad_input[i].words, &used, &err) >= 0)
			fail_msg("%s %s is accepted", bad_input[i].words[0], bad_input[i].words[1]);
		if (!strstr(err.text, bad_input[i].says))
			fail_msg("'%s' does not say '%s'", err.text, bad_input[i].says);
		spec_done(&spec);
	}
}

static void file_options_become_wishes(void **state)
{
	static const struct file_wish wanted[] = {
		{ .verb = FILE_DENY, .path = (char *)"~/.ssh", .optional = true },
		{ .verb = FILE_DENY, .path = (char *)"/x", .optional = true },
		{ .verb = FILE_RO, .path = (char *)"a-b" },
		{ .verb = FILE_RW, .path = (char *)"." },
		{ .verb = FILE_NOEXEC, .path = (char *)"/tmp" },
	};
	static const char *const origins[] = { "--deny", "--deny", "--ro", "--rw", "--noexec" };
	struct spec s;

	(void)state;
	PARSE(&s, "--deny", "-~/.ssh", "--deny=-/x", "--ro", "a-b", "--rw=.", "--noexec", "/tmp");
	assert_int_equal(s.file_count, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(s.files[i].verb, wanted[i].verb);
		assert_string_equal(s.files[i].path, wanted[i].path);
		assert_int_equal(s.files[i].optional, wanted[i].optional);
		assert_int_equal(s.files[i].level, FILE_LEVEL_COMMAND_LINE);
		assert_string_equal(s.files[i].origin, origins[i]);
	}
	spec_done(&s);

	PARSE(&s, "--mount=a:/b", "--mount", "~/c:/d:ro", "--cache=~/k", "--audit", "--net=host");
	assert_int_equal(s.mount_count, 2);
	assert_string_equal(s.mounts[0].source, "a");
	assert_string_equal(s.mounts[0].target, "/b");
	assert_false(s.mounts[0].read_only);
	assert_string_equal(s.mounts[1].source, "~/c");
	assert_string_equal(s.mounts[1].target, "/d");
	assert_true(s.mounts[1].read_only);
	assert_string_equal(s.cache, "~/k");
	assert_int_equal(s.file_count, 1);
	assert_int_equal(s.files[0].verb, FILE_RW);
	assert_string_equal(s.files[0].path, "~/k");
	assert_string_equal(s.files[0].origin, "--cache");
	assert_true(s.audit && s.net.said == NET_HOST);
	spec_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_paths_are_refused_and_named),
		cmocka_unit_test(file_options_become_wishes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
