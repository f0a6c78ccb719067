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

#include "policy/files.h"

#define R FILE_READ
#define W FILE_WRITE
#define X FILE_EXEC
#define CLI FILE_LEVEL_COMMAND_LINE
#define RULES_MAX 8

/* One rule as kern/paths would hand it over; a path without '/' is a name at any depth. */
struct said {
	enum file_verb verb;
	const char *path;
	unsigned int level;
	bool pattern;
	enum file_reach reach;
};

static void add(struct file_policy *policy, const struct said *said, const char *origin)
{
	struct file_rule rule = {
		.path = strdup(said->path),
		.written = strdup(said->path),
		.origin = strdup(origin),
		.verb = said->verb,
		.reach = said->path[0] == '/' ? said->reach : FILE_ANYWHERE,
		.level = said->level,
		.pattern = said->pattern || said->path[0] != '/',
		.directory = true,
	};
	struct err err = { 0 };

	if (file_policy_add(policy, &rule, &err) < 0)
		fail_msg("%s", err.text);
	assert_null(rule.path);
}

/* Rule number i has the origin "line i+1". Compiles what is said up to the first without path. */
static int compile(struct file_policy *policy, const struct said *said, struct err *err)
{
	*policy = (struct file_policy){ 0 };
	for (int i = 0; i < RULES_MAX && said[i].path; i++) {
		char origin[32];

		snprintf(origin, sizeof(origin), "line %d", i + 1);
		add(policy, &said[i], origin);
	}
	return files_compile(policy, err);
}

/* The same must come of every order of the rules. */
static void compile_well(struct file_policy *policy, const struct said *said, bool reversed)
{
	struct said turned[RULES_MAX] = { 0 };
	struct err err = { 0 };
	size_t count = 0;

	while (count < RULES_MAX && said[count].path)
		count++;
	for (size_t i = 0; i < count; i++)
		turned[i] = said[reversed ? count - 1 - i : i];
	if (compile(policy, turned, &err) < 0)
		fail_msg("%s", err.text);
}

struct decision {
	struct said said[RULES_MAX];
	struct {
		const char *path;
		unsigned int rights;
	} wanted[6];
};

static void check_decisions(const struct decision *rows, size_t count)
{
	for (size_t i = 0; i < 2 * count; i++) {
		const struct decision *row = &rows[i / 2];
		struct file_policy policy;

		compile_well(&policy, row->said, i % 2);
		for (size_t j = 0; j < 6 && row->wanted[j].path; j++) {
			const struct file_rule *rule = files_decide(&policy, row->wanted[j].path);

			if (rule->rights != row->wanted[j].rights)
				fail_msg("row %zu: %s: %s (by %s)", i / 2, row->wanted[j].path,
					 files_rights_text(rule->rights), rule->path);
		}
		file_policy_done(&policy);
	}
}

static void the_nearest_rule_decides(void **state)
{
	static const struct decision rows[] = {
		{ .said = { { 0 } },
		  .wanted = { { "/", R | W | X }, { "/a/b", R | W | X }, { "", R | W | X } } },
		{ .said = { { .verb = FILE_RO, .path = "/" },
			    { .verb = FILE_RW, .path = "/a" },
			    { .verb = FILE_DENY, .path = "/a/b" },
			    { .verb = FILE_RO, .path = "/a/b/c" } },
		  .wanted = { { "/x", R | X },
			      { "/a", R | W | X },
			      { "/a/", R | W | X },
			      { "/a/b", 0 },
			      { "/a/b/x/y", 0 },
			      { "/a/b/c/d", R | X } } },
		/* Names that begin alike are no parents. */
		{ .said = { { .verb = FILE_DENY, .path = "/a" },
			    { .verb = FILE_RO, .path = "/a-b" },
			    { .verb = FILE_RO, .path = "/abc" } },
		  .wanted = { { "/a", 0 },
			      { "/ab", R | W | X },
			      { "/abc/d", R | X },
			      { "/abcd", R | W | X },
			      { "/a-b/c", R | X },
			      { "/a/b", 0 } } },
		/* An entry decides as an object does, what is absent decides nothing. */
		{ .said = { { .verb = FILE_DENY, .path = "/a/.env", .reach = FILE_ENTRY },
			    { .verb = FILE_DENY, .path = "/b/c/d", .reach = FILE_ABSENT } },
		  .wanted = { { "/a/.env", 0 },
			      { "/a/.env/x", 0 },
			      { "/a/.envy", R | W | X },
			      { "/b/c/d", R | W | X } } },
	};

	(void)state;
	check_decisions(rows, sizeof(rows) / sizeof(rows[0]));
}

static void noexec_takes_execute_from_what_holds_otherwise(void **state)
{
	static const struct decision rows[] = {
		{ .said = { { .verb = FILE_NOEXEC, .path = "/" },
			    { .verb = FILE_RO, .path = "/bin" } },
		  .wanted = { { "/x", R | W }, { "/bin/sh", R | X } } },
		{ .said = { { .verb = FILE_RO, .path = "/" },
			    { .verb = FILE_NOEXEC, .path = "/tmp" },
			    { .verb = FILE_RW, .path = "/tmp" },
			    { .verb = FILE_NOEXEC, .path = "/data/in" },
			    { .verb = FILE_RW, .path = "/data" } },
		  .wanted = { { "/tmp/x", R | W }, { "/data/in/x", R | W }, { "/data/x", 7 } } },
		{ .said = { { .verb = FILE_RO, .path = "/" },
			    { .verb = FILE_NOEXEC, .path = "/a" },
			    { .verb = FILE_NOEXEC, .path = "/a/b" } },
		  .wanted = { { "/a/b/c", R }, { "/a/x", R } } },
		/* Of a later level it narrows, of an earlier one it has lost. */
		{ .said = { { .verb = FILE_RW, .path = "/a", .level = 1 },
			    { .verb = FILE_NOEXEC, .path = "/a", .level = CLI } },
		  .wanted = { { "/a", R | W } } },
		{ .said = { { .verb = FILE_NOEXEC, .path = "/a", .level = 1 },
			    { .verb = FILE_RW, .path = "/a", .level = CLI } },
		  .wanted = { { "/a", R | W | X } } },
		/* It opens nothing. */
		{ .said = { { .verb = FILE_DENY, .path = "/a", .pattern = true },
			    { .verb = FILE_NOEXEC, .path = "/a" } },
		  .wanted = { { "/a", 0 } } },
		{ .said = { { .verb = FILE_DENY, .path = "/a" },
			    { .verb = FILE_NOEXEC, .path = "/a/b" } },
		  .wanted = { { "/a/b", 0 } } },
		/* Below a name that is held everywhere, too. */
		{ .said = { { .verb = FILE_DENY, .path = ".git" },
			    { .verb = FILE_NOEXEC, .path = "/w/.git/x" } },
		  .wanted = { { "/w/.git/x", 0 } } },
	};

	(void)state;
	check_decisions(rows, sizeof(rows) / sizeof(rows[0]));
}

static void later_levels_and_literal_paths_win(void **state)
{
	static const struct decision rows[] = {
		{ .said = { { .verb = FILE_DENY, .path = "/a", .level = 1 },
			    { .verb = FILE_RO, .path = "/a", .level = 2 },
			    { .verb = FILE_RW, .path = "/a", .level = CLI } },
		  .wanted = { { "/a", R | W | X } } },
		{ .said = { { .verb = FILE_RW, .path = "/a", .level = 1 },
			    { .verb = FILE_DENY, .path = "/a", .level = CLI, .pattern = true } },
		  .wanted = { { "/a", 0 } } },
		{ .said = { { .verb = FILE_DENY, .path = "/home/u", .level = 1, .pattern = true },
			    { .verb = FILE_RO, .path = "/home/u", .level = 1 } },
		  .wanted = { { "/home/u/x", R | X } } },
		{ .said = { { .verb = FILE_RO, .path = "/home/u", .level = 1, .pattern = true },
			    { .verb = FILE_DENY, .path = "/home/u", .level = 1 } },
		  .wanted = { { "/home/u/x", 0 } } },
		/* A later level on the parent does not reach over a nearer rule. */
		{ .said = { { .verb = FILE_DENY, .path = "/a/b", .level = 1 },
			    { .verb = FILE_RW, .path = "/a", .level = CLI } },
		  .wanted = { { "/a/b", 0 } } },
	};

	(void)state;
	check_decisions(rows, sizeof(rows) / sizeof(rows[0]));
}

static void a_name_at_any_depth_decides_like_a_pattern(void **state)
{
	static const struct decision rows[] = {
		{ .said = { { .verb = FILE_DENY, .path = ".env" },
			    { .verb = FILE_RO, .path = "/a/.env/x" } },
		  .wanted = { { "/.env", 0 },
			      { "/a/b/.env", 0 },
			      { "/a/.env/y", 0 },
			      { "/a/.env/x", R | X },
			      { "/a/x.env", R | W | X },
			      { "/a/.env.d", R | W | X } } },
		/* A literal path of its level wins, a pattern that gives more does not. */
		{ .said = { { .verb = FILE_DENY, .path = ".env", .level = 1 },
			    { .verb = FILE_RW, .path = "/a/.env", .level = 1 },
			    { .verb = FILE_RW, .path = "/b/.env", .level = 1, .pattern = true } },
		  .wanted = { { "/a/.env", R | W | X }, { "/b/.env", 0 }, { "/c/.env", 0 } } },
		{ .said = { { .verb = FILE_DENY, .path = ".env", .level = CLI },
			    { .verb = FILE_RW, .path = "/a/.env", .level = 1 } },
		  .wanted = { { "/a/.env", 0 } } },
		{ .said = { { .verb = FILE_RO, .path = ".env", .level = CLI },
			    { .verb = FILE_DENY, .path = "/a/.env", .level = 1 } },
		  .wanted = { { "/a/.env", R | X } } },
	};

	(void)state;
	check_decisions(rows, sizeof(rows) / sizeof(rows[0]));
}

static void contradictions_name_both_rules(void **state)
{
	static const struct said rows[][RULES_MAX] = {
		{ { .verb = FILE_RO, .path = "/a" }, { .verb = FILE_RW, .path = "/a" } },
		{ { .verb = FILE_DENY, .path = "/a" }, { .verb = FILE_RW, .path = "/a" } },
		{ { .verb = FILE_DENY, .path = "/a" }, { .verb = FILE_NOEXEC, .path = "/a" } },
		{ { .verb = FILE_DENY, .path = ".env" }, { .verb = FILE_RO, .path = ".env" } },
		{ { .verb = FILE_DENY, .path = "/a", .level = CLI, .pattern = true },
		  { .verb = FILE_RW, .path = "/a", .level = CLI, .pattern = true } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct file_policy policy;
		struct err err = { 0 };

		if (compile(&policy, rows[i], &err) >= 0)
			fail_msg("row %zu is accepted", i);
		assert_int_equal(err.category, ERR_VALIDATION);
		if (!strstr(err.text, "(line 1)") || !strstr(err.text, "(line 2)") ||
		    !strstr(err.text, file_verb_name(rows[i][0].verb)) ||
		    !strstr(err.text, file_verb_name(rows[i][1].verb)))
			fail_msg("row %zu: %s", i, err.text);
		file_policy_done(&policy);
	}
}

static void the_same_said_twice_is_one_rule(void **state)
{
	static const struct said said[RULES_MAX] = {
		{ .verb = FILE_RO, .path = "/a" },
		{ .verb = FILE_RO, .path = "/a" },
		{ .verb = FILE_DENY, .path = "/a", .pattern = true },
		{ .verb = FILE_DENY, .path = "x" },
	};
	struct file_policy policy;

	(void)state;
	compile_well(&policy, said, false);
	assert_int_equal(policy.count, 3);
	assert_string_equal(policy.rules[0].path, "/");
	assert_true(policy.rules[0].implied);
	assert_string_equal(policy.rules[1].path, "/a");
	assert_false(policy.rules[1].implied);
	assert_int_equal(policy.rules[1].verb, FILE_RO);
	assert_string_equal(policy.rules[1].origin, "line 1");
	assert_int_equal(policy.rules[2].reach, FILE_ANYWHERE);
	file_policy_done(&policy);
}

static void a_root_that_was_named_is_not_implied(void **state)
{
	static const struct said said[RULES_MAX] = { { .verb = FILE_RO, .path = "/" } };
	struct file_policy policy;

	(void)state;
	compile_well(&policy, said, false);
	assert_int_equal(policy.count, 1);
	assert_false(policy.rules[0].implied);
	file_policy_done(&policy);
}

static void what_a_name_outranks_says_so(void **state)
{
	static const struct said said[RULES_MAX] = {
		{ .verb = FILE_RW, .path = "/a/.env", .level = 1 },
		{ .verb = FILE_DENY, .path = ".env", .level = CLI },
	};
	struct file_policy policy;
	const struct file_rule *rule;

	(void)state;
	compile_well(&policy, said, false);
	rule = files_decide(&policy, "/a/.env");
	assert_string_equal(rule->path, "/a/.env");
	assert_string_equal(rule->origin, "line 2");
	assert_string_equal(rule->written, ".env");
	assert_int_equal(rule->verb, FILE_DENY);
	file_policy_done(&policy);
}

#define NAME31 "abcdefghijklmnopqrstuvwxyz01234"

static void names_that_cannot_be_held_are_refused(void **state)
{
	static const struct {
		struct said said[RULES_MAX];
		const char *says;
	} rows[] = {
		{ { { .path = "/a/" NAME31, .verb = FILE_DENY, .reach = FILE_ENTRY } }, NULL },
		{ { { .path = "/a/" NAME31 "5", .verb = FILE_DENY } }, NULL },
		{ { { .path = "/a/" NAME31 "5", .verb = FILE_DENY, .reach = FILE_ABSENT } }, NULL },
		{ { { .path = "/a/" NAME31 "5", .verb = FILE_DENY, .reach = FILE_ENTRY } },
		  "31 bytes" },
		{ { { .path = NAME31, .verb = FILE_DENY } }, NULL },
		{ { { .path = NAME31 "5", .verb = FILE_DENY } }, "31 bytes" },
		{ { { .path = "x", .verb = FILE_NOEXEC } }, "noexec needs a path" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct file_policy policy;
		struct err err = { 0 };
		int r = compile(&policy, rows[i].said, &err);

		if (!r != !rows[i].says)
			fail_msg("row %zu: %d %s", i, r, err.text);
		if (r && (!strstr(err.text, rows[i].says) || !strstr(err.text, "(line 1)")))
			fail_msg("row %zu: %s", i, err.text);
		file_policy_done(&policy);
	}
}

static void narrower_below_is_seen(void **state)
{
	static const struct {
		struct said said[RULES_MAX];
		const char *path;
		bool narrowed;
	} rows[] = {
		{ { { .verb = FILE_DENY, .path = "/a/b" } }, "/a", true },
		{ { { .verb = FILE_DENY, .path = "/a/b" } }, "/", true },
		{ { { .verb = FILE_DENY, .path = "/a/b" } }, "/a/b", false },
		{ { { .verb = FILE_DENY, .path = "/ab/c" } }, "/a", false },
		{ { { .verb = FILE_DENY, .path = "/a/b", .reach = FILE_ENTRY } }, "/a", true },
		{ { { .verb = FILE_DENY, .path = "/a/b/c", .reach = FILE_ABSENT } }, "/a", false },
		{ { { .verb = FILE_RO, .path = "/" }, { .verb = FILE_RW, .path = "/a" } },
		  "/",
		  false },
		{ { { .verb = FILE_RW, .path = "/a" }, { .verb = FILE_NOEXEC, .path = "/a/b" } },
		  "/a",
		  true },
		{ { { .verb = FILE_DENY, .path = ".env" } }, "/x", true },
		{ { { .verb = FILE_DENY, .path = "/" }, { .verb = FILE_DENY, .path = ".env" } },
		  "/x",
		  false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct file_policy policy;

		compile_well(&policy, rows[i].said, false);
		if (files_narrowed_below(&policy, rows[i].path) != rows[i].narrowed)
			fail_msg("row %zu", i);
		file_policy_done(&policy);
	}
}

static void more_rules_than_the_bound_are_refused(void **state)
{
	struct file_policy policy = { 0 };
	struct err err = { 0 };
	struct file_rule rule;

	(void)state;
	for (int i = 0; i < FILES_RULES_MAX; i++) {
		char path[16];
		const struct said said = { .path = path, .verb = FILE_RO };

		snprintf(path, sizeof(path), "/%d", i);
		add(&policy, &said, "x");
	}
	rule = (struct file_rule){ .path = strdup("/x") };
	assert_int_equal(file_policy_add(&policy, &rule, &err), -ENOSPC);
	assert_null(rule.path);
	assert_int_equal(policy.count, FILES_RULES_MAX);
	file_policy_done(&policy);
	assert_int_equal(policy.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_rule_decides),
		cmocka_unit_test(noexec_takes_execute_from_what_holds_otherwise),
		cmocka_unit_test(later_levels_and_literal_paths_win),
		cmocka_unit_test(a_name_at_any_depth_decides_like_a_pattern),
		cmocka_unit_test(contradictions_name_both_rules),
		cmocka_unit_test(the_same_said_twice_is_one_rule),
		cmocka_unit_test(a_root_that_was_named_is_not_implied),
		cmocka_unit_test(what_a_name_outranks_says_so),
		cmocka_unit_test(names_that_cannot_be_held_are_refused),
		cmocka_unit_test(narrower_below_is_seen),
		cmocka_unit_test(more_rules_than_the_bound_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
