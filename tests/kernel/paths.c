/* SPDX-License-Identifier: Apache-2.0 */
/* What file wishes come to, on directories made for it. Needs no kernel feature. */
#include "kern/place.h"
#include "paths_test.h"

static void homes_and_relative_paths_are_filled_in(void **state)
{
	struct policy p;

	(void)state;
	make("h/.ssh/key", "");
	make("h/w/src/", "");
	p = resolve(SAID({ FILE_DENY, "~/.ssh", CLI }, { FILE_RO, "src", CLI },
			 { FILE_RO, "./src/../src/.//", PROFILE }, { FILE_RW, ".", CLI },
			 { FILE_RO, "%h", PROFILE }, { FILE_RO, "~", CLI },
			 { FILE_DENY, "%d/src/..//src", PROFILE + 1 }));
	expect(&p, "h/.ssh", FILE_DENY, FILE_OBJECT);
	expect(&p, "h/w/src", FILE_RO, FILE_OBJECT);
	expect(&p, "h/w", FILE_RW, FILE_OBJECT);
	expect(&p, "h", FILE_RO, FILE_OBJECT);
	assert_string_equal(rule_on(&p, "h/.ssh")->written, "~/.ssh");
	assert_string_equal(rule_on(&p, "h/.ssh")->origin, "--x");
	assert_true(rule_on(&p, "h/.ssh")->directory);
	assert_int_equal(p.rules.count, 5);
	file_policy_done(&p.rules);

	/* On the command line a percent sign is one. */
	make("h/w/%d", "");
	p = resolve(SAID({ FILE_RO, "%d", CLI }, { FILE_DENY, "%%d", PROFILE }));
	expect(&p, "h/w/%d", FILE_RO, FILE_OBJECT);
	assert_int_equal(p.rules.count, 2);
	file_policy_done(&p.rules);
}

static void a_link_is_followed_once_and_both_names_are_kept(void **state)
{
	struct policy p;

	(void)state;
	make("data/x/file", "");
	MUST(symlink("data", "one") == 0 && symlink("../one/x", "h/two") == 0);
	MUST(symlink("gone/deeper", "dangling") == 0 && symlink("data/new", "coming") == 0);
	MUST(symlink("loop", "loop") == 0);
	p = resolve(SAID({ FILE_DENY, "~/two", CLI }, { FILE_DENY, "../../coming", CLI },
			 { FILE_DENY, "-../../dangling", CLI }));
	expect(&p, "data/x", FILE_DENY, FILE_OBJECT);
	assert_string_equal(rule_on(&p, "data/x")->written, "~/two");
	expect(&p, "data/new", FILE_DENY, FILE_ENTRY);
	expect(&p, "gone/deeper", FILE_DENY, FILE_ABSENT);
	file_policy_done(&p.rules);

	p = resolve(SAID({ FILE_DENY, "-../../loop", CLI }));
	assert_true(p.rc < 0);
	assert_non_null(strstr(p.err.text, "Too many levels"));
	assert_null(p.rules.rules);
}

static void what_is_missing_is_an_entry_or_absent_or_an_error(void **state)
{
	struct policy p;

	(void)state;
	make("h/file", "");
	p = resolve(SAID({ FILE_DENY, ".env", CLI }, { FILE_DENY, "-~/a/b/../c", CLI },
			 { FILE_DENY, "-~/file/x", CLI }, { FILE_RW, "out/", CLI }));
	expect(&p, "h/w/.env", FILE_DENY, FILE_ENTRY);
	expect(&p, "h/w/out", FILE_RW, FILE_ENTRY);
	expect(&p, "h/a/c", FILE_DENY, FILE_ABSENT);
	expect(&p, "h/file/x", FILE_DENY, FILE_ABSENT);
	file_policy_done(&p.rules);

	p = resolve(SAID({ FILE_DENY, "~/a/b", CLI }));
	assert_true(p.rc < 0);
	assert_non_null(
		strstr(p.err.text, "--x: ~/a/b: neither it nor its parent exists; write -~/a/b"));
	p = resolve(SAID({ FILE_DENY, "abcdefghijklmnopqrstuvwxyz0123456", CLI }));
	assert_true(p.rc < 0);
	assert_non_null(strstr(p.err.text, "31 bytes"));
}

static void patterns_find_what_is_there(void **state)
{
	struct policy p;

	(void)state;
	make("h/c/credentials", "");
	make("h/c/credentials.toml", "");
	make("h/c/.hidden", "");
	make("h/c/a*b", "");
	make("h/c/aXb", "");
	make("h/d1/k/key", "");
	make("h/d2/k/other", "");
	p = resolve(SAID({ FILE_DENY, "~/c/cred*", PROFILE },
			 { FILE_RO, "~/c/credentials", PROFILE }, { FILE_DENY, "~/d?/k/key", CLI },
			 { FILE_DENY, "~/c/a\\*b", CLI }, { FILE_DENY, "-~/nothing*", CLI },
			 { FILE_NOEXEC, "~/c/*", CLI }, { FILE_DENY, "**/.env", CLI }));
	expect(&p, "h/c/credentials", FILE_RO, FILE_OBJECT);
	expect(&p, "h/c/credentials.toml", FILE_DENY, FILE_OBJECT);
	assert_true(rule_on(&p, "h/c/credentials.toml")->pattern);
	assert_false(rule_on(&p, "h/c/credentials")->pattern);
	assert_int_equal(rule_on(&p, "h/c/credentials")->rights, FILE_READ);
	expect(&p, "h/c/.hidden", FILE_NOEXEC, FILE_OBJECT);
	expect(&p, "h/c/a*b", FILE_DENY, FILE_OBJECT);
	expect(&p, "h/c/aXb", FILE_NOEXEC, FILE_OBJECT);
	expect(&p, "h/d1/k/key", FILE_DENY, FILE_OBJECT);
	expect_none(&p, "h/d2/k");
	assert_int_equal(p.rules.rules[p.rules.count - 1].reach, FILE_ANYWHERE);
	assert_string_equal(p.rules.rules[p.rules.count - 1].path, ".env");
	file_policy_done(&p.rules);

	p = resolve(SAID({ FILE_DENY, "~/nothing*", CLI }));
	assert_true(p.rc < 0);
	assert_non_null(strstr(p.err.text, "nothing matches"));
}

static void patterns_side_by_side_and_below_each_other_find_the_same(void **state)
{
	struct policy p;

	(void)state;
	make("h/e1/k1/a", "");
	make("h/e1/k2/b", "");
	make("h/e2/k1/a", "");
	make("h/e[3]/k1/a", "");
	p = resolve(SAID({ FILE_DENY, "~/e?/k*/a", CLI }, { FILE_RO, "~/e1/k*", CLI },
			 { FILE_RW, "~/e1/*2", CLI }, { FILE_RO, "~/e[2]", CLI },
			 { FILE_RO, "~/e\\[3]/[k]1", CLI }, { FILE_DENY, "-~/[*]1", CLI },
			 { FILE_DENY, "-~/e[!1]/none", CLI }));
	if (p.rc >= 0)
		fail_msg("ro and rw of one level on h/e1/k2 went together");
	p = resolve(SAID({ FILE_DENY, "~/e?/k*/a", CLI }, { FILE_RO, "~/e1/k*", PROFILE },
			 { FILE_RW, "~/e1/*2", CLI }, { FILE_RO, "~/e[2]", CLI },
			 { FILE_RO, "~/e\\[3]/[k]1", CLI }, { FILE_DENY, "-~/[*]1", CLI },
			 { FILE_DENY, "-~/e[!1]/none", CLI }));
	expect(&p, "h/e1/k1/a", FILE_DENY, FILE_OBJECT);
	expect(&p, "h/e2/k1/a", FILE_DENY, FILE_OBJECT);
	expect(&p, "h/e1/k1", FILE_RO, FILE_OBJECT);
	expect(&p, "h/e1/k2", FILE_RW, FILE_OBJECT);
	expect(&p, "h/e2", FILE_RO, FILE_OBJECT);
	assert_true(rule_on(&p, "h/e2")->pattern);
	expect(&p, "h/e[3]/k1", FILE_RO, FILE_OBJECT);
	assert_int_equal(p.rules.count, 7);
	file_policy_done(&p.rules);
}

static void a_home_with_special_characters_is_taken_literally(void **state)
{
	struct policy p;

	(void)state;
	make("h*/[x]/.ssh/key", "");
	make("hh/[x]/.ssh/key", "");
	make("h*/x/.ssh/key", "");
	p = resolve_in("h*/[x]", "h*/[x]",
		       SAID({ FILE_DENY, "~/.s*", CLI }, { FILE_RO, "%d/.ssh/key", PROFILE }));
	expect(&p, "h*/[x]/.ssh", FILE_DENY, FILE_OBJECT);
	expect(&p, "h*/[x]/.ssh/key", FILE_RO, FILE_OBJECT);
	assert_int_equal(p.rules.count, 3);
	file_policy_done(&p.rules);
}

static void contradictions_come_with_both_origins(void **state)
{
	struct policy p;

	(void)state;
	make("data/", "");
	MUST(symlink("../../data", "h/w/link") == 0);
	p = resolve(SAID({ FILE_RO, "link", CLI }, { FILE_RW, "../../data", CLI }));
	assert_true(p.rc < 0);
	assert_non_null(strstr(p.err.text, "link"));
	assert_non_null(strstr(p.err.text, "../../data"));
	assert_null(p.rules.rules);
}

static void a_home_is_no_place_to_work_in(void **state)
{
	static const char *const guarded[] = { "h", "h/..", "/", "/tmp/..", "/root", "/home" };
	struct policy p;

	(void)state;
	for (size_t i = 0; i < COUNT(guarded); i++) {
		if (access(guarded[i], F_OK) != 0)
			continue;
		p = resolve_in("h", guarded[i],
			       SAID({ FILE_RO, "/", PROFILE }, { FILE_RW, "%d", PROFILE }));
		assert_int_equal(p.rc, 0);
		for (size_t j = 0; j < p.rules.count; j++)
			assert_true(p.rules.rules[j].verb == FILE_RO);
		if (!strstr(p.note, "--rw ."))
			fail_msg("%s: '%s'", guarded[i], p.note);
		file_policy_done(&p.rules);
	}
	p = resolve_in("h", "h",
		       SAID({ FILE_RO, "/", PROFILE }, { FILE_RW, "%d", PROFILE },
			    { FILE_RW, ".", CLI }));
	expect(&p, "h", FILE_RW, FILE_OBJECT);
	assert_string_equal(p.note, "");
	file_policy_done(&p.rules);
	p = resolve(SAID({ FILE_RO, "/", PROFILE }, { FILE_RW, "%d", PROFILE }));
	expect(&p, "h/w", FILE_RW, FILE_OBJECT);
	assert_string_equal(p.note, "");
	file_policy_done(&p.rules);
}

static void a_path_can_be_located(void **state)
{
	static const struct {
		const char *text, *path;
		enum file_reach reach;
		bool directory;
	} rows[] = {
		{ "~", "h", FILE_OBJECT, true },
		{ "x", "h/w/x", FILE_OBJECT, false },
		{ "~/link/x", "h/w/x", FILE_OBJECT, false },
		{ "new", "h/w/new", FILE_ENTRY, false },
		{ "a/b/../c", "h/w/a/c", FILE_ABSENT, false },
	};
	char home[2 * PATH_MAX], directory[2 * PATH_MAX], wanted[2 * PATH_MAX];
	const struct paths_context context = { home, directory };

	(void)state;
	absolute(home, sizeof(home), "h");
	absolute(directory, sizeof(directory), "h/w");
	make("h/w/x", "");
	MUST(symlink("w", "h/link") == 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct paths_place place;
		struct err err = { 0 };

		OK(&err, paths_locate(&context, rows[i].text, &place, &err));
		absolute(wanted, sizeof(wanted), rows[i].path);
		assert_string_equal(place.path, wanted);
		assert_int_equal(place.reach, rows[i].reach);
		assert_int_equal(place.directory, rows[i].directory);
		free(place.path);
	}
}

/* In this order, so that each directory is remembered from the path before. */
static void neighbours_lead_where_they_lead_alone(void **state)
{
	static const char *const texts[] = {
		"n/a/x",      "n/a/y",	   "n/a/dir", "n/a/new",  "n/l/x",     "n/l/new",
		"n/a/../a/x", "n/a/.",	   "n/a/..",  "n/a/",	  "n//a//x",   "n/file/x",
		"n/file/y",   "n/file",	   "n/gone",  "n/gone/x", "n/gone/y",  "n/dang/x",
		"n/dang",     "n/a/link",  "n/a/up",  "n/a/up/x", "n/a/dang2", "n/a/dir/z",
		"n/dang/y",   "n/gone/..",
	};
	struct place_memory memory = { .text = "" };
	char whole[2 * PATH_MAX], real[PATH_MAX];

	(void)state;
	make("n/a/dir/z", "");
	make("n/a/x", "");
	make("n/a/y", "");
	make("n/file", "");
	MUST(symlink("a", "n/l") == 0 && symlink("nowhere/deep", "n/dang") == 0);
	MUST(symlink("x", "n/a/link") == 0 && symlink("..", "n/a/up") == 0);
	MUST(symlink("new2", "n/a/dang2") == 0);
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct place_memory fresh = { .text = "" };
		struct paths_place one, other;
		struct err err = { 0 };
		struct stat st;

		absolute(whole, sizeof(whole), texts[i]);
		OK(&err, place_find(&memory, whole, &one, &err));
		OK(&err, place_find(&fresh, whole, &other, &err));
		assert_string_equal(one.path, other.path);
		assert_int_equal(one.reach, other.reach);
		assert_int_equal(one.directory, other.directory);
		assert_int_equal(one.reach == FILE_OBJECT, realpath(whole, real) != NULL);
		if (one.reach == FILE_OBJECT) {
			assert_string_equal(one.path, real);
			assert_int_equal(one.directory,
					 stat(real, &st) == 0 && S_ISDIR(st.st_mode));
		}
		free(one.path);
		free(other.path);
	}
}

static void bounds_are_kept(void **state)
{
	char deep[PATH_MAX] = "";
	struct policy p;

	(void)state;
	for (int i = 0; i < 200; i++)
		strcat(deep, "/*");
	p = resolve(SAID({ FILE_DENY, deep, CLI }));
	assert_true(p.rc < 0);
	assert_non_null(strstr(p.err.text, "128 components"));
	memset(deep, 'a', sizeof(deep) - 1);
	p = resolve(SAID({ FILE_DENY, deep, CLI }));
	assert_true(p.rc < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(homes_and_relative_paths_are_filled_in),
		TEST(a_link_is_followed_once_and_both_names_are_kept),
		TEST(what_is_missing_is_an_entry_or_absent_or_an_error),
		TEST(patterns_find_what_is_there),
		TEST(patterns_side_by_side_and_below_each_other_find_the_same),
		TEST(a_home_with_special_characters_is_taken_literally),
		TEST(contradictions_come_with_both_origins),
		TEST(a_home_is_no_place_to_work_in),
		TEST(a_path_can_be_located),
		TEST(neighbours_lead_where_they_lead_alone),
		TEST(bounds_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
