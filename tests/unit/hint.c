/* SPDX-License-Identifier: Apache-2.0 */
/* The option that would allow what was refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "policy/hint.h"

static const char *hint(struct file_rule rule, struct hint_wanted wanted, const char *object)
{
	static char buf[9000];

	rule.written = rule.path;
	hint_text(&rule, wanted, object, buf, sizeof(buf));
	return buf;
}

#define PROFILE(p, r) \
	((struct file_rule){ .path = (char *)(p), .rights = (r), .level = FILE_LEVEL_PROFILE })

static void what_is_read_or_run_needs_no_write(void **state)
{
	(void)state;
	assert_string_equal(hint(PROFILE("/h/.ssh", 0), (struct hint_wanted){ FILE_READ, false },
				 "/h/.ssh/id"),
			    "--ro /h/.ssh/id");
	assert_string_equal(hint(PROFILE("/x", FILE_READ), (struct hint_wanted){ FILE_EXEC, false },
				 "/x/run"),
			    "--ro /x/run");
	/* Where it may write, `--ro` would take that away. */
	assert_string_equal(hint(PROFILE("/x", FILE_READ | FILE_WRITE),
				 (struct hint_wanted){ FILE_EXEC, false }, "/x/run"),
			    "--rw /x/run");
}

static void an_entry_needs_its_directory(void **state)
{
	const struct hint_wanted content = { FILE_WRITE, false }, entry = { FILE_WRITE, true };

	(void)state;
	assert_string_equal(hint(PROFILE("/", FILE_READ), content, "/srv/f"), "--rw /srv/f");
	assert_string_equal(hint(PROFILE("/", FILE_READ), entry, "/srv/d/f"), "--rw /srv/d");
	assert_string_equal(hint(PROFILE("/", FILE_READ), entry, "/f"), "--rw /");
}

static void a_name_is_quoted_for_the_shell(void **state)
{
	(void)state;
	assert_string_equal(hint(PROFILE("/", FILE_READ), (struct hint_wanted){ FILE_WRITE, false },
				 "/a b/it's"),
			    "--rw '/a b/it'\\''s'");
}

static void what_the_command_line_said_is_named(void **state)
{
	struct file_rule rule = { .path = (char *)"/x",
				  .origin = (char *)"--deny",
				  .level = FILE_LEVEL_COMMAND_LINE };
	char none[8] = "?";

	(void)state;
	assert_string_equal(hint(rule, (struct hint_wanted){ FILE_READ, false }, "/x"),
			    "without --deny /x");
	assert_string_equal(hint(rule, (struct hint_wanted){ FILE_READ, false }, "/x/y"),
			    "--ro /x/y");
	assert_false(hint_text(NULL, (struct hint_wanted){ FILE_READ, false }, "/x", none,
			       sizeof(none)));
	assert_string_equal(none, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_or_run_needs_no_write),
		cmocka_unit_test(an_entry_needs_its_directory),
		cmocka_unit_test(a_name_is_quoted_for_the_shell),
		cmocka_unit_test(what_the_command_line_said_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
