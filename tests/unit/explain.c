/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/explain.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct file_rule said[] = {
	{ .path = (char *)"/", .written = (char *)"/", .verb = FILE_RO, .directory = true },
	{ .path = (char *)"/data", .written = (char *)"~/link", .verb = FILE_RW },
	{ .path = (char *)"/etc/shadow-",
	  .written = (char *)"/etc/shadow*",
	  .verb = FILE_DENY,
	  .pattern = true,
	  .optional = true },
	{ .path = (char *)"/data/.env",
	  .written = (char *)".env",
	  .verb = FILE_DENY,
	  .reach = FILE_ENTRY },
	{ .path = (char *)"/h/.ssh",
	  .written = (char *)"~/.ssh",
	  .verb = FILE_DENY,
	  .reach = FILE_ENTRY,
	  .optional = true },
	{ .path = (char *)"/data/new",
	  .written = (char *)"new",
	  .verb = FILE_RW,
	  .reach = FILE_ENTRY },
	{ .path = (char *)".envrc",
	  .written = (char *)"**/.envrc",
	  .verb = FILE_DENY,
	  .reach = FILE_ANYWHERE },
};

static void make(struct file_policy *policy)
{
	struct err err = { 0 };

	*policy = (struct file_policy){ 0 };
	for (size_t i = 0; i < COUNT(said); i++) {
		struct file_rule rule = said[i];

		rule.path = strdup(said[i].path);
		rule.written = strdup(said[i].written);
		rule.origin = strdup("--x");
		rule.level = FILE_LEVEL_COMMAND_LINE;
		assert_int_equal(file_policy_add(policy, &rule, &err), 0);
	}
	if (files_compile(policy, &err) < 0)
		fail_msg("%s", err.text);
}

static void a_rule_is_said_as_it_was_and_as_it_is(void **state)
{
	static const struct {
		const char *path, *said, *from;
	} rows[] = {
		{ "/usr/bin", "ro /", "--x" },
		{ "/data/x", "rw ~/link, which is /data", "--x" },
		{ "/etc/shadow-", "deny /etc/shadow*, which finds /etc/shadow-", "--x (optional)" },
		{ "/data/.env/x", "deny .env, which is /data/.env", "--x" },
		{ "/q/.envrc", "deny **/.envrc", "--x" },
	};
	struct file_policy policy;

	(void)state;
	make(&policy);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct explanation e;

		explain_path(&policy, rows[i].path, &e);
		assert_string_equal(e.said, rows[i].said);
		assert_string_equal(e.from, rows[i].from);
	}
	file_policy_done(&policy);
}

static void each_tier_says_what_it_cannot_hold(void **state)
{
	static const struct {
		const char *path, *a, *b;
	} rows[] = {
		{ "/data", "the object", "Landlock" },
		{ "/etc/shadow-", "the object", "mask" },
		{ "/data/.env", "from the moment", "cannot hold what does not exist" },
		{ "/h/.ssh", "from the moment", "absent at the start" },
		{ "/data/new", "from the moment", "the same as its directory" },
		{ "/q/.envrc", "in every directory", "cannot hold a name" },
	};
	struct file_policy policy;

	(void)state;
	make(&policy);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct explanation e;

		explain_path(&policy, rows[i].path, &e);
		if (!strstr(e.tier_a, rows[i].a) || !strstr(e.tier_b, rows[i].b))
			fail_msg("%s: %s; %s", rows[i].path, e.tier_a, e.tier_b);
	}
	file_policy_done(&policy);
}

static void no_rule_at_all_is_said_so(void **state)
{
	struct file_policy policy = { 0 };
	struct explanation e;

	(void)state;
	assert_int_equal(files_compile(&policy, NULL), 0);
	explain_path(&policy, "/x", &e);
	assert_string_equal(e.said, "none: what no rule names is allowed");
	assert_string_equal(e.tier_a, "nothing to hold");
	file_policy_done(&policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_is_said_as_it_was_and_as_it_is),
		cmocka_unit_test(each_tier_says_what_it_cannot_hold),
		cmocka_unit_test(no_rule_at_all_is_said_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
