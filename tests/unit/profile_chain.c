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

#include "policy/option.h"
#include "policy/profile_builtin.h"
#include "policy/profile_chain.h"
#include "policy/spec_environ.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define GIB (1ULL << 30)
#define TEXTS_MAX 10

/* Profiles by name, as files below /p; the built-in ones beside them. */
struct shelf {
	const char *name, *text;
};

static int find(void *arg, const char *name, char **text, size_t *len, char **source,
		struct err *err)
{
	const struct profile_builtin *builtin = profile_builtin_find(name);

	(void)err;
	for (const struct shelf *at = arg; at && at->name; at++) {
		if (strcmp(at->name, name) != 0)
			continue;
		assert_true(asprintf(source, "/p/%s", name) > 0);
		*text = strdup(at->text);
		*len = strlen(at->text);
		return 0;
	}
	if (!builtin)
		return -ENOENT;
	*text = strdup(builtin->text);
	*len = strlen(builtin->text);
	return 0;
}

/* As `sbxctl run WORDS` with the profile `name` does it, up to spec_check. */
static int apply(struct spec *spec, const struct shelf *shelf, const char *name,
		 const char *const *words, struct err *err)
{
	char *argv[16] = { NULL };
	struct profile_chain chain;
	int argc = 0, used, r;

	for (; words && argc < 15 && words[argc]; argc++)
		argv[argc] = (char *)words[argc];
	spec_init(spec);
	r = option_parse(spec, OPTION_GROUPS_ALL, argc, argv, &used, err);
	if (!r)
		r = profile_chain_read(&chain, name, find, (void *)shelf, err);
	if (r)
		return r;
	r = profile_chain_apply(&chain, 64 * GIB, spec, err);
	profile_chain_done(&chain);
	return r;
}

static void apply_well(struct spec *spec, const struct shelf *shelf, const char *name,
		       const char *const *words)
{
	struct err err = { 0 };

	if (apply(spec, shelf, name, words, &err) < 0)
		fail_msg("%s", err.text);
}
#define APPLY(spec, shelf, name, ...) \
	apply_well(spec, shelf, name, (const char *const[]){ __VA_ARGS__ NULL })

static const struct file_wish *find_wish(const struct spec *spec, const char *path,
					 enum file_verb verb)
{
	for (size_t i = 0; i < spec->file_count; i++)
		if (!strcmp(spec->files[i].path, path) && spec->files[i].verb == verb)
			return &spec->files[i];
	return NULL;
}

static void limits_say_where_they_come_from(void **state)
{
	static const struct shelf shelf[] = {
		{ "ci", "[Limits]\nRuntimeMax=5m\nMemoryMax=50%\nCPUQuota=150%\nTasksMax=64\n"
			"MemorySwapMax=0\nIdleMax=none\nKillAfter=5s\nSpillAt=1M\n" },
		{ 0 },
	};
	struct spec s;

	(void)state;
	APPLY(&s, shelf, "ci", "--pids=32", );
	assert_true(s.limits[LIMIT_WALL].value == 300000000000ULL);
	assert_int_equal(s.limits[LIMIT_WALL].origin, ORIGIN_PROFILE);
	assert_string_equal(s.limits[LIMIT_WALL].origin_name, "ci");
	assert_true(s.limits[LIMIT_MEMORY].value == 32 * GIB);
	assert_int_equal(s.limits[LIMIT_MEMORY].origin, ORIGIN_PROFILE);
	assert_int_equal(s.limits[LIMIT_CPUS].value, 1500);
	assert_int_equal(s.limits[LIMIT_SWAP].value, 0);
	assert_true(limit_in_force(&s.limits[LIMIT_SWAP]));
	assert_int_equal(s.limits[LIMIT_IDLE].origin, ORIGIN_WAIVED);
	assert_int_equal(s.limits[LIMIT_PIDS].value, 32);
	assert_int_equal(s.limits[LIMIT_PIDS].origin, ORIGIN_EXPLICIT);
	assert_true(s.kill_after_ns == 5000000000ULL && s.spill_at_bytes == 1 << 20);
	assert_false(s.kill_after_set || s.spill_at_set);
	assert_true(s.drop_privileges);
	spec_done(&s);

	/* A preset is said on the command line, too. */
	APPLY(&s, shelf, "ci", "--limits=strict", "-k1", "--spill-at=64K", );
	assert_true(s.limits[LIMIT_WALL].value == 1000000000ULL);
	assert_int_equal(s.limits[LIMIT_WALL].origin, ORIGIN_PRESET);
	assert_int_equal(s.limits[LIMIT_CPUS].value, 1500);
	assert_true(s.kill_after_ns == 1000000000ULL && s.spill_at_bytes == 64 << 10);
	spec_done(&s);
	APPLY(&s, shelf, "ci", "--limits=none", "--timeout=none", );
	for (int id = 0; id < LIMIT__COUNT; id++)
		assert_false(limit_in_force(&s.limits[id]));
	spec_done(&s);
}

static void what_extends_stands_over_what_is_extended(void **state)
{
	static const struct shelf shelf[] = {
		{ "base", "[Limits]\nTasksMax=1\nExecsMax=1\nDepthMax=1\n[Filesystem]\nDeny=/a /b\n"
			  "Write=/w\n[Environment]\nSet=A=1 B=1\nPass=P_*\n" },
		{ "mid",
		  "Extends=base\n[Limits]\nTasksMax=2\nDepthMax=\n[Filesystem]\nDeny=\nDeny=/c\n"
		  "[Environment]\nSet=A=2\n" },
		{ "top", "Extends=mid\n[Limits]\nTasksMax=3\n[Filesystem]\nDeny=-/d\n" },
		{ 0 },
	};
	const struct file_wish *wish;
	struct spec s;

	(void)state;
	APPLY(&s, shelf, "top", "-eB=0", "--deny=/e", );
	assert_int_equal(s.limits[LIMIT_PIDS].value, 3);
	assert_string_equal(s.limits[LIMIT_PIDS].origin_name, "top");
	assert_int_equal(s.limits[LIMIT_EXECS].value, 1);
	assert_string_equal(s.limits[LIMIT_EXECS].origin_name, "base");
	assert_int_equal(s.limits[LIMIT_DEPTH].origin, ORIGIN_UNSET);

	assert_int_equal(s.file_count, 4);
	assert_null(find_wish(&s, "/a", FILE_DENY));
	wish = find_wish(&s, "/w", FILE_RW);
	assert_int_equal(wish->level, 1);
	assert_string_equal(wish->origin, "/p/base:7:7");
	wish = find_wish(&s, "/c", FILE_DENY);
	assert_int_equal(wish->level, 2);
	assert_false(wish->optional);
	wish = find_wish(&s, "/d", FILE_DENY);
	assert_int_equal(wish->level, 3);
	assert_true(wish->optional);
	assert_string_equal(wish->origin, "/p/top:5:6");
	assert_int_equal(find_wish(&s, "/e", FILE_DENY)->level, FILE_LEVEL_COMMAND_LINE);

	assert_int_equal(s.env_count, 2);
	assert_string_equal(s.env[0].name, "B");
	assert_string_equal(s.env[0].value, "0");
	assert_string_equal(s.env[1].name, "A");
	assert_string_equal(s.env[1].value, "2");
	assert_int_equal(s.pass_env_count, 1);
	spec_done(&s);
}

static const struct {
	struct shelf shelf[TEXTS_MAX];
	const char *says;
} wrong[] = {
	{ { { "x", "[Limits]\nTasksMax=1\nTasksMax=2\n" } },
	  "/p/x:3:10: TasksMax= contradicts /p/x:2:10" },
	{ { { "x", "[Environment]\nSet=A=1\nSet=A=2\n" } }, "/p/x:3:5: Set= contradicts /p/x:2:5" },
	{ { { "x", "[Limits]\nTasksMax=zwei\n" } }, "/p/x:2:10: TasksMax=: zwei: not a number" },
	{ { { "x", "[Limits]\nTasksMax=0\n" } }, "say 'none' for no limit" },
	{ { { "x", "[Limits]\nTasksMax=75%\n" } }, "/p/x:2:10: TasksMax=: 75%" },
	{ { { "x", "[Limits]\nMemoryMax=0%\n" } }, "/p/x:2:11: MemoryMax=: 0%" },
	{ { { "x", "[Filesystem]\nRead=/a\nPrivateTmp=maybe\n" } },
	  "/p/x:3:12: PrivateTmp=: maybe: not one of yes, no" },
	{ { { "x", "[Filesystem]\nRead=%x/a\n" } }, "a '%' that is none of %h, %d, %%" },
	{ { { "x", "[Filesystem]\nRead=/a%\n" } }, "a '%' that is none" },
	{ { { "x", "[Filesystem]\nDeny=/a/**/b\n" } }, "**/NAME" },
	{ { { "x", "[Filesystem]\nDeny=**/a/b\n" } }, "**/NAME" },
	{ { { "x", "[Filesystem]\nDeny=**/*\n" } }, "**/NAME" },
	{ { { "x", "[Filesystem]\nDeny=~bob/x\n" } }, "'~' stands only for" },
	{ { { "x", "[Filesystem]\nDeny=-\n" } }, "not a path" },
	{ { { "x", "[Filesystem]\nCache=here\n" } }, "neither private, none nor" },
	{ { { "x", "[Filesystem]\nWorkingDirectory=here\n" } }, "neither new nor" },
	{ { { "x", "[Network]\nMode=some\n" } }, "not one of none, allow, host" },
	{ { { "x", "[Network]\nMode=none\nAllow=a:1\n" } },
	  "/p/x:3:7: Allow=: a:1: contradicts the Mode=" },
	{ { { "x", "[Network]\nAllow=a:1\nMode=host\n" } },
	  "/p/x:3:6: Mode=: host: contradicts what is allowed" },
	{ { { "x", "[Environment]\nSet=A\n" } }, "Pass= hands one over" },
	{ { { "x", "[Environment]\nSet=SBX_ID=1\n" } }, "set by sbx itself" },
	{ { { "x", "[Process]\nUser=a:b:c\n" } }, "not of the form USER" },
	{ { { "x", "[Process]\nOwner=me\n" } }, "/p/x:2:7: Owner=: me: not a process" },
	{ { { "x", "Extends=x\n" } }, "/p/x:1:1: profile x extends itself" },
	{ { { "x", "\nExtends=y\n" }, { "y", "Extends=z" }, { "z", "Extends=x" } },
	  "/p/z:1:1: profile x extends itself, by way of z" },
	{ { { "x", "Extends=nosuch\n" } },
	  "/p/x:1:1: no profile is called 'nosuch'; `sbxctl profile list`" },
	{ { { "x", "Extends=y\n" }, { "y", "[Limts]\n" } }, "/p/y:1:2: unknown section [Limts]" },
	{ { { "x", "Extends=1" },
	    { "1", "Extends=2" },
	    { "2", "Extends=3" },
	    { "3", "Extends=4" },
	    { "4", "Extends=5" },
	    { "5", "Extends=6" },
	    { "6", "Extends=default" },
	    { "7", "" } },
	  NULL },
	{ { { "x", "Extends=1" },
	    { "1", "Extends=2" },
	    { "2", "Extends=3" },
	    { "3", "Extends=4" },
	    { "4", "Extends=5" },
	    { "5", "Extends=6" },
	    { "6", "Extends=7" },
	    { "7", "Extends=none" } },
	  "profile x extends more than 7 others" },
};

static void what_goes_wrong_is_named_with_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct err err = { 0 };
		struct spec s;
		int r = apply(&s, wrong[i].shelf, "x", NULL, &err);

		if (!r != !wrong[i].says)
			fail_msg("row %zu: %d %s", i, r, err.text);
		if (r && !strstr(err.text, wrong[i].says))
			fail_msg("row %zu: '%s'", i, err.text);
		spec_done(&s);
	}
}

static void the_same_value_twice_is_no_contradiction(void **state)
{
	static const struct shelf shelf[] = {
		{ "x", "[Limits]\nTasksMax=1\nTasksMax=1\nTasksMax=\nTasksMax=2\n"
		       "[Environment]\nSet=A=1 A=1 AB=2\n" },
		{ 0 },
	};
	struct spec s;

	(void)state;
	APPLY(&s, shelf, "x", );
	assert_int_equal(s.limits[LIMIT_PIDS].value, 2);
	assert_int_equal(s.env_count, 2);
	spec_done(&s);
}

static void the_network_mode_is_the_last_ones(void **state)
{
	static const struct shelf shelf[] = {
		{ "none", "" },
		{ "closed", "[Network]\nMode=none\n" },
		{ "open", "Extends=closed\n[Network]\nAllow=example.org:443\n" },
		{ "shut", "Extends=open\n[Network]\nMode=none\n" },
		{ "reset", "Extends=open\n[Network]\nAllow=\n" },
		{ "host", "Extends=open\n[Network]\nMode=host\n" },
		{ "unix", "[Network]\nUnix=/run/x\n" },
		{ "again", "Extends=shut\n[Network]\nAllow=10.0.0.1\n" },
		{ "more", "Extends=open\n[Network]\nAllow=10.0.0.1\n" },
		{ 0 },
	};
	static const struct {
		const char *name;
		enum net_mode mode;
		size_t rules;
	} rows[] = {
		{ "closed", NET_NONE, 0 }, { "open", NET_ALLOW, 1 },  { "shut", NET_NONE, 0 },
		{ "reset", NET_NONE, 0 },  { "host", NET_HOST, 0 },   { "unix", NET_UNSAID, 0 },
		{ "none", NET_UNSAID, 0 }, { "again", NET_ALLOW, 1 }, { "more", NET_ALLOW, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct spec s;

		APPLY(&s, shelf, rows[i].name, );
		if (s.net.mode != rows[i].mode || s.net.rule_count != rows[i].rules)
			fail_msg("%s: %d, %zu rules", rows[i].name, s.net.mode, s.net.rule_count);
		spec_done(&s);
	}
}

static void naming_a_variable_in_full_is_the_grant(void **state)
{
	static const struct shelf shelf[] = {
		{ "x", "[Environment]\nPass=MY_TOKEN MY_* OTHER_TOKEN PLAIN\n" },
		{ 0 },
	};
	static char *const caller[] = { (char *)"MY_TOKEN=t", (char *)"MY_SECRET=s",
					(char *)"MY_NAME=n", (char *)"PLAIN=p", NULL };
	static const struct spec_user user = { .home = "/h" };
	struct err err = { 0 };
	char **env = NULL;
	struct spec s;

	(void)state;
	APPLY(&s, shelf, "x", );
	assert_int_equal(spec_environ(&s, caller, &user, "id", &env, &err), 0);
	assert_string_equal(spec_environ_get(env, "MY_TOKEN"), "t");
	assert_string_equal(spec_environ_get(env, "MY_NAME"), "n");
	assert_string_equal(spec_environ_get(env, "PLAIN"), "p");
	assert_null(spec_environ_get(env, "MY_SECRET"));
	assert_null(spec_environ_get(env, "OTHER_TOKEN"));
	spec_environ_free(env);
	spec_done(&s);
}

static void every_builtin_profile_applies(void **state)
{
	(void)state;
	for (size_t i = 0; i < profile_builtin_count; i++) {
		const char *name = profile_builtins[i].name;
		struct spec s;

		APPLY(&s, NULL, name, "--net=host", "-p", name, "true", );
		assert_int_equal(s.drop_privileges, strcmp(name, "none") != 0);
		spec_done(&s);
	}
}

static void none_says_nothing(void **state)
{
	struct spec s, blank;

	(void)state;
	spec_init(&blank);
	APPLY(&s, NULL, "none", );
	assert_memory_equal(&s, &blank, sizeof(s));
	spec_done(&s);
}

/* DESIGN 8, word by word. */
static const char *const credentials[] = {
	"~/.ssh",
	"~/.gnupg",
	"~/.aws",
	"~/.azure",
	"~/.config/gcloud",
	"~/.config/gh",
	"~/.kube",
	"~/.docker/config.json",
	"~/.netrc",
	"~/.npmrc",
	"~/.pypirc",
	"~/.cargo/credentials*",
	"~/.git-credentials",
	"~/.pgpass",
	"~/.vault-token",
	"~/.password-store",
	"~/.local/share/keyrings",
	"~/.mozilla",
	"~/.bash_history",
	"~/.claude/.credentials.json",
	"~/.codex/auth.json",
	"/home/*",
	"/etc/shadow*",
	"/etc/gshadow*",
	"/etc/ssh/*_key",
	"/etc/ssl/private",
	"/run/secrets",
};

static void default_is_as_designed(void **state)
{
	struct spec s;

	(void)state;
	APPLY(&s, NULL, "default", );
	for (size_t i = 0; i < COUNT(credentials); i++) {
		const struct file_wish *wish = find_wish(&s, credentials[i], FILE_DENY);

		if (!wish || !wish->optional)
			fail_msg("%s", credentials[i]);
	}
	for (size_t i = 0; i < s.file_count; i++)
		assert_true(s.files[i].verb != FILE_DENY || s.files[i].optional);
	assert_non_null(find_wish(&s, "/", FILE_RO));
	assert_non_null(find_wish(&s, "%d", FILE_RW));
	assert_non_null(find_wish(&s, "/tmp", FILE_RW));
	assert_true(s.private_tmp && s.cache_private && s.drop_privileges);
	assert_int_equal(s.net.mode, NET_NONE);
	assert_int_equal(s.limits[LIMIT_PIDS].value, 1024);
	assert_true(s.limits[LIMIT_MEMORY].value == 48 * GIB);
	assert_string_equal(s.limits[LIMIT_MEMORY].origin_name, "default");
	spec_done(&s);

	APPLY(&s, NULL, "default", "--cache=/c", );
	assert_false(s.cache_private);
	assert_string_equal(s.cache, "/c");
	spec_done(&s);
}

static void readonly_writes_nothing_of_the_host(void **state)
{
	struct spec s;

	(void)state;
	APPLY(&s, NULL, "readonly", );
	assert_null(find_wish(&s, "%d", FILE_RW));
	assert_non_null(find_wish(&s, "/tmp", FILE_RW));
	assert_non_null(find_wish(&s, "~/.ssh", FILE_DENY));
	assert_true(s.private_tmp);
	spec_done(&s);
}

static void agents_keep_their_own_state_and_keys(void **state)
{
	static const char *const own[] = { "~/.claude", "~/.claude.json", "~/.codex", "~/.gemini" };
	static const char *const project[] = { "%d/.claude", "%d/.mcp.json", "%d/.vscode",
					       "%d/.idea", "%d/.envrc" };
	struct spec s;

	(void)state;
	APPLY(&s, NULL, "agent", );
	for (size_t i = 0; i < COUNT(own); i++)
		assert_true(find_wish(&s, own[i], FILE_RW)->optional);
	for (size_t i = 0; i < COUNT(project); i++)
		assert_true(find_wish(&s, project[i], FILE_RO)->level <
			    find_wish(&s, own[0], FILE_RW)->level);
	assert_non_null(find_wish(&s, "~/.ssh", FILE_DENY));
	assert_int_equal(s.net.mode, NET_ALLOW);
	assert_string_equal(s.env[0].name, "ANTHROPIC_API_KEY");
	assert_true(s.env[0].optional);
	spec_done(&s);

	APPLY(&s, NULL, "agent-codex", );
	assert_null(find_wish(&s, "~/.claude", FILE_RW));
	assert_non_null(find_wish(&s, "~/.codex", FILE_RW));
	spec_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_say_where_they_come_from),
		cmocka_unit_test(what_extends_stands_over_what_is_extended),
		cmocka_unit_test(what_goes_wrong_is_named_with_its_place),
		cmocka_unit_test(the_same_value_twice_is_no_contradiction),
		cmocka_unit_test(the_network_mode_is_the_last_ones),
		cmocka_unit_test(naming_a_variable_in_full_is_the_grant),
		cmocka_unit_test(every_builtin_profile_applies),
		cmocka_unit_test(none_says_nothing),
		cmocka_unit_test(default_is_as_designed),
		cmocka_unit_test(readonly_writes_nothing_of_the_host),
		cmocka_unit_test(agents_keep_their_own_state_and_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
