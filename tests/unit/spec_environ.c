/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/option.h"
#include "policy/spec_environ.h"

#define ARGS_MAX 12

static char *const caller[] = {
	"PATH=/usr/bin:/bin",
	"HOME=/root",
	"USER=root",
	"LANG=C",
	"LC_ALL=C.UTF-8",
	"TERM=xterm",
	"TZ=UTC",
	"PYTHONPATH=/p",
	"MAKEFLAGS=-j2",
	"TMPDIR=/var/tmp/x",
	"CANARY=sing",
	"GH_TOKEN=ghp_x",
	"LC_API_KEY=x",
	"PYTHON_TOKEN=x",
	"X_CONFIG=sk-ant-api03-x",
	"LC_HIDDEN=ghp_0123",
	"PLAIN=1",
	"PATH=/second",
	"NOEQUALS",
	"=odd",
	"EMPTY=",
	NULL,
};

static char **make(const char *const *words, char *const *from, const struct spec_user *user,
		   struct err *err)
{
	char *argv[ARGS_MAX + 1] = { NULL };
	char **out = NULL;
	struct spec spec;
	int argc = 0, used;

	for (; argc < ARGS_MAX && words[argc]; argc++)
		argv[argc] = (char *)words[argc];
	spec_init(&spec);
	assert_int_equal(option_parse(&spec, OPTION_GROUPS_ALL, argc, argv, &used, NULL), 0);
	if (spec_environ(&spec, from, user, "abcdefghij", &out, err) < 0)
		out = NULL;
	spec_done(&spec);
	return out;
}
#define MAKE(user, ...) make((const char *const[]){ __VA_ARGS__, NULL }, caller, user, NULL)

static const struct spec_user nobody_else = { 0 };

static void expect(char **vector, const char *name, const char *want)
{
	const char *got = spec_environ_get(vector, name);

	if (!want && got)
		fail_msg("%s is there", name);
	if (want && (!got || strcmp(got, want) != 0))
		fail_msg("%s is %s, not %s", name, got ? got : "absent", want);
}

static void only_the_list_is_passed(void **state)
{
	char **env = MAKE(&nobody_else, "-q");

	(void)state;
	expect(env, "PATH", "/usr/bin:/bin");
	expect(env, "HOME", "/root");
	expect(env, "LC_ALL", "C.UTF-8");
	expect(env, "PYTHONPATH", "/p");
	expect(env, "MAKEFLAGS", "-j2");
	expect(env, "SBX_ID", "abcdefghij");
	expect(env, "CANARY", NULL);
	expect(env, "PLAIN", NULL);
	expect(env, "GH_TOKEN", NULL);
	spec_environ_free(env);
}

static void a_name_on_the_list_may_not_smuggle_a_secret(void **state)
{
	char **env = MAKE(&nobody_else, "-q");

	(void)state;
	expect(env, "LC_API_KEY", NULL);
	expect(env, "PYTHON_TOKEN", NULL);
	expect(env, "LC_HIDDEN", NULL);
	spec_environ_free(env);
}

static void a_pattern_passes_all_but_what_looks_secret(void **state)
{
	char **env = MAKE(&nobody_else, "--pass-env", "*");

	(void)state;
	expect(env, "CANARY", "sing");
	expect(env, "EMPTY", "");
	expect(env, "PLAIN", "1");
	expect(env, "GH_TOKEN", NULL);
	expect(env, "X_CONFIG", NULL);
	expect(env, "PYTHON_TOKEN", NULL);
	spec_environ_free(env);

	env = MAKE(&nobody_else, "--pass-env", "CAN*", "--pass-env", "PLAI?");
	expect(env, "CANARY", "sing");
	expect(env, "PLAIN", "1");
	expect(env, "EMPTY", NULL);
	spec_environ_free(env);
}

static void naming_a_variable_grants_it(void **state)
{
	char **env = MAKE(&nobody_else, "-eGH_TOKEN", "-eNEW=a=b", "-ePATH=/mine", "-eEMPTY");

	(void)state;
	expect(env, "GH_TOKEN", "ghp_x");
	expect(env, "NEW", "a=b");
	expect(env, "PATH", "/mine");
	expect(env, "EMPTY", "");
	spec_environ_free(env);
}

static void a_named_variable_that_the_caller_lacks_is_an_error(void **state)
{
	static const char *const words[] = { "-eNOPE", NULL };
	struct err err = { 0 };

	(void)state;
	assert_null(make(words, caller, &nobody_else, &err));
	assert_string_equal(err.text, "-e NOPE: not set in the caller's environment");
}

static void another_user_brings_home_and_shell(void **state)
{
	static const struct spec_user bob = { "bob", "/home/bob", "/bin/sh", "/bob/bin", NULL };
	char **env = MAKE(&bob, "-q");

	(void)state;
	expect(env, "HOME", "/home/bob");
	expect(env, "USER", "bob");
	expect(env, "LOGNAME", "bob");
	expect(env, "SHELL", "/bin/sh");
	expect(env, "PATH", "/usr/bin:/bin");
	spec_environ_free(env);

	env = MAKE(&bob, "--pass-path", "-eHOME=/elsewhere");
	expect(env, "PATH", "/bob/bin");
	expect(env, "HOME", "/elsewhere");
	spec_environ_free(env);

	env = MAKE(&nobody_else, "--pass-path");
	expect(env, "PATH", "/usr/bin:/bin");
	spec_environ_free(env);
}

static void a_private_tmp_is_where_temporary_files_go(void **state)
{
	char **env = MAKE(&nobody_else, "-q");

	(void)state;
	expect(env, "TMPDIR", "/var/tmp/x");
	spec_environ_free(env);
	env = MAKE(&nobody_else, "--private-tmp");
	expect(env, "TMPDIR", "/tmp");
	spec_environ_free(env);
	env = MAKE(&nobody_else, "--private-tmp", "-eTMPDIR=/t");
	expect(env, "TMPDIR", "/t");
	spec_environ_free(env);
}

static void an_empty_caller_still_gives_a_path(void **state)
{
	static char *const empty[] = { NULL };
	static const char *const words[] = { "-q", NULL };
	char **env = make(words, empty, &nobody_else, NULL);

	(void)state;
	expect(env, "PATH", "/usr/local/bin:/usr/bin:/bin");
	expect(env, "SBX_ID", "abcdefghij");
	expect(env, "HOME", NULL);
	spec_environ_free(env);
}

static void every_name_comes_once(void **state)
{
	char **env = MAKE(&nobody_else, "--pass-env", "*", "-ePATH=/x");

	(void)state;
	for (char **a = env; *a; a++)
		for (char **b = env; b < a; b++)
			assert_true(strncmp(*a, *b, strcspn(*a, "=") + 1) != 0);
	spec_environ_free(env);
}

static void more_variables_than_the_bound_are_refused(void **state)
{
	static const char *const words[] = { "--pass-env", "V*", NULL };
	static char texts[SPEC_ENV_MAX + 1][16];
	static char *many[SPEC_ENV_MAX + 2];
	struct err err = { 0 };

	(void)state;
	for (int i = 0; i <= SPEC_ENV_MAX; i++) {
		snprintf(texts[i], sizeof(texts[i]), "V%d=x", i);
		many[i] = texts[i];
	}
	assert_null(make(words, many, &nobody_else, &err));
	assert_non_null(strstr(err.text, "more than 4096 variables"));
}

static void caches_are_led_to_one_directory(void **state)
{
	static const struct spec_user user = { .home = "/h", .cache = "/c" };
	char **env = MAKE(&user, "-eGOCACHE=/mine");

	(void)state;
	assert_non_null(env);
	assert_string_equal(spec_environ_get(env, "XDG_CACHE_HOME"), "/c");
	assert_string_equal(spec_environ_get(env, "npm_config_cache"), "/c/npm");
	assert_string_equal(spec_environ_get(env, "UV_CACHE_DIR"), "/c/uv");
	assert_string_equal(spec_environ_get(env, "GRADLE_USER_HOME"), "/c/gradle");
	assert_string_equal(spec_environ_get(env, "GOCACHE"), "/mine");
	spec_environ_free(env);

	env = MAKE(&(struct spec_user){ .home = "/h" }, "-eX=1");
	assert_null(spec_environ_get(env, "XDG_CACHE_HOME"));
	spec_environ_free(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caches_are_led_to_one_directory),
		cmocka_unit_test(only_the_list_is_passed),
		cmocka_unit_test(a_name_on_the_list_may_not_smuggle_a_secret),
		cmocka_unit_test(a_pattern_passes_all_but_what_looks_secret),
		cmocka_unit_test(naming_a_variable_grants_it),
		cmocka_unit_test(a_named_variable_that_the_caller_lacks_is_an_error),
		cmocka_unit_test(another_user_brings_home_and_shell),
		cmocka_unit_test(a_private_tmp_is_where_temporary_files_go),
		cmocka_unit_test(an_empty_caller_still_gives_a_path),
		cmocka_unit_test(every_name_comes_once),
		cmocka_unit_test(more_variables_than_the_bound_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
