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

#include "base/text.h"
#include "option_words.h"

#define SEC 1000000000ULL

static void every_option_has_one_row_and_says_what_it_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < run_option_count; i++) {
		const struct option *a = &run_options[i];

		assert_true(a->name || a->letter);
		assert_true(!a->name || !strncmp(a->name, "--", 2));
		assert_true(!a->set == !!a->refused);
		assert_true(a->help && *a->help && strlen(a->help) < 70 && !strchr(a->help, '\n'));
		for (size_t j = 0; j < i; j++) {
			const struct option *b = &run_options[j];

			assert_false(a->name && b->name && !strcmp(a->name, b->name));
			assert_false(a->letter && a->letter == b->letter);
			assert_true(b->group <= a->group);
		}
	}
}

static const char *const design_names[] = {
	"--timeout",
	"--idle-timeout",
	"--kill-after",
	"--signal",
	"--memory",
	"--swap",
	"--cpus",
	"--cpu-time",
	"--pids",
	"--disk",
	"--max-file",
	"--nofile",
	"--max-execs",
	"--max-depth",
	"--limits",
	"--ro",
	"--rw",
	"--noexec",
	"--deny",
	"--mount",
	"--workdir",
	"--chdir",
	"--private-tmp",
	"--cache",
	"--net",
	"--allow-net",
	"--allow-bind",
	"--allow-unix",
	"--env",
	"--pass-env",
	"--pass-path",
	"--user",
	"--keep-groups",
	"--allow-root-caps",
	"--stdin",
	"--pty",
	"--no-pty",
	"--max-output",
	"--spill-at",
	"--preview",
	"--no-keep-spill",
	"--color",
	"--tree",
	"--result",
	"--json",
	"--pid-ns",
	"--owner",
	"--leftovers",
	"--detach",
	"--name",
	"--label",
	"--cgroup-parent",
	"--profile",
	"--allow-reduced",
	"--audit",
};

static void every_design_option_is_in_the_table(void **state)
{
	static const char letters[] = "tksmCeuiqvdpc";

	(void)state;
	for (size_t i = 0; i < sizeof(design_names) / sizeof(design_names[0]); i++) {
		bool found = false;

		for (size_t j = 0; j < run_option_count && !found; j++)
			found = run_options[j].name &&
				!strcmp(run_options[j].name, design_names[i]);
		if (!found)
			fail_msg("%s is missing", design_names[i]);
	}
	for (size_t i = 0; letters[i]; i++) {
		bool found = false;

		for (size_t j = 0; j < run_option_count && !found; j++)
			found = run_options[j].letter == letters[i];
		if (!found)
			fail_msg("-%c is missing", letters[i]);
	}
}

static void a_value_may_come_in_four_ways(void **state)
{
	static const char *const ways[][3] = {
		{ "--timeout", "5", NULL },
		{ "--timeout=5", NULL },
		{ "-t", "5", NULL },
		{ "-t5", NULL },
	};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct spec spec;
		int used;

		assert_int_equal(parse(&spec, ways[i], &used, NULL), 0);
		assert_int_equal(used, ways[i][1] ? 2 : 1);
		assert_true(spec.limits[LIMIT_WALL].value == 5 * SEC);
		assert_int_equal(spec.limits[LIMIT_WALL].origin, ORIGIN_EXPLICIT);
		spec_done(&spec);
	}
}

static void letters_can_be_grouped(void **state)
{
	struct spec spec;

	(void)state;
	PARSE(&spec, "-qit5");
	assert_true(spec.quiet);
	assert_int_equal(spec.stdin_mode, STDIN_INHERIT);
	assert_true(spec.limits[LIMIT_WALL].value == 5 * SEC);
	spec_done(&spec);

	PARSE(&spec, "-dt", "5");
	assert_true(spec.detach);
	assert_true(spec.limits[LIMIT_WALL].value == 5 * SEC);
	spec_done(&spec);
}

static void parsing_stops_at_the_command(void **state)
{
	static const struct {
		const char *words[6];
		int used;
	} rows[] = {
		{ { "-q", "ls", "-v" }, 1 },
		{ { "-q", "--", "-v" }, 2 },
		{ { "ls", "--json" }, 0 },
		{ { "--", "--" }, 1 },
		{ { "-" }, 0 },
		{ { "" }, 0 },
		{ { "-i", "file" }, 1 },
		{ { "--stdin", "file" }, 1 },
		{ { "--name", "--", "x" }, -1 },
		{ { NULL }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spec spec;
		int used = -1;

		parse(&spec, rows[i].words, &used, NULL);
		if (used != rows[i].used)
			fail_msg("row %zu: %d words used", i, used);
		spec_done(&spec);
	}
}

/* What is typed, and what the one line must say. */
static const struct {
	const char *words[4];
	const char *says;
} bad_input[] = {
	{ { "--timout", "5" }, "--timout: unknown option; did you mean --timeout?" },
	{ { "--xyzzy" }, "--xyzzy: unknown option" },
	{ { "--xyzzy=1" }, "--xyzzy: unknown option" },
	{ { "-z" }, "-z: unknown option" },
	{ { "-qz" }, "-z: unknown option" },
	{ { "--TIMEOUT=1" }, "--TIMEOUT: unknown option" },
	{ { "--timeout" }, "--timeout: needs DUR" },
	{ { "-t" }, "-t: needs DUR" },
	{ { "-qt" }, "-t: needs DUR" },
	{ { "--timeout=" }, "--timeout: its value is empty" },
	{ { "--timeout", "" }, "--timeout: its value is empty" },
	{ { "--timeout", "0" }, "--timeout 0: must be greater than zero; say 'none' for no limit" },
	{ { "-t", "-3" }, "-t -3: must be greater than zero; say 'none' for no limit" },
	{ { "--memory", "0" }, "'none'" },
	{ { "--pids=0" }, "'none'" },
	{ { "--kill-after", "0" }, "say 'none' to kill at once" },
	{ { "-t5x" }, "-t 5x: not a duration" },
	{ { "-m", "12Q" }, "-m 12Q: not a size" },
	{ { "-m", "75%" }, "-m 75%: a percentage" },
	{ { "--memory", "99999999999999999999" }, "out of range" },
	{ { "--cpus", "x" }, "--cpus x: not a number of CPUs" },
	{ { "--pids", "1.5" }, "--pids 1.5: not a number" },
	{ { "--signal", "FOO" }, "--signal FOO: not a signal" },
	{ { "--limits", "lax" },
	  "--limits lax: not a preset; one of strict, default, relaxed, none" },
	{ { "-t5", "--timeout", "5" }, "--timeout: given twice" },
	{ { "-qq" }, "-q: given twice" },
	{ { "--json", "--json" }, "--json: given twice" },
	{ { "--quiet=yes" }, "--quiet: takes no value" },
	{ { "--pty", "--no-pty" }, "--no-pty contradicts --pty" },
	{ { "--color=blue" }, "--color blue: not one of auto, always, never" },
	{ { "--pid-ns=maybe" }, "not one of on, off" },
	{ { "--leftovers", "eat" }, "not one of kill, wait, keep" },
	{ { "--owner", "0" }, "--owner 0: not a process" },
	{ { "--owner", "me" }, "--owner me: not a process" },
	{ { "--owner", "fd:-1" }, "--owner fd:-1: not a process" },
	{ { "--result", "fd:x" }, "--result fd:x: not a descriptor" },
	{ { "--result=fd:4294967296" }, "not a descriptor" },
	{ { "--name", "a/b" }, "--name a/b: not a name" },
	{ { "--name", "--json" }, "--name --json: not a name" },
	{ { "--name", "\xff" }, "--name ?: not a name" },
	{ { "--name", "a\nb" }, "--name a?b: not a name" },
	{ { "--label", "novalue" }, "--label novalue: not a label" },
	{ { "--label", "=v" }, "not a label" },
	{ { "--label", "k=\xc3" }, "not a label" },
	{ { "--label", "k=1", "--label", "k=2" }, "--label k=2: given twice" },
	{ { "-e", "=v" }, "not a variable's name" },
	{ { "-e", "a\xff=v" }, "not a variable's name" },
	{ { "-e", "A=1", "-eA=2" }, "-e A: given twice" },
	{ { "-e", "SBX_ID=1" }, "-e SBX_ID: set by sbx itself" },
	{ { "--pass-env", "A=B" }, "not a pattern" },
	{ { "-u", ":g" }, "not of the form USER" },
	{ { "-u", "u:" }, "not of the form USER" },
	{ { "-u", "a:b:c" }, "not of the form USER" },
	{ { "--cgroup-parent", "x" }, "not an absolute path" },
	{ { "--cgroup-parent", "/a/../b" }, "not an absolute path" },
	{ { "--cgroup-parent", "/a/.." }, "not an absolute path" },
	{ { "--allow-reduced", "memory_cap,foo" }, "--allow-reduced foo: not a capability" },
	{ { "--allow-reduced", "memory_cap," }, "not a capability" },
	{ { "-p", "a:b" }, "-p a:b: not a profile's name; write ./a:b for a file" },
	{ { "-p", ".x" }, "not a profile's name" },
	{ { "-c" }, "-c: needs STRING" },
	{ { "-c", "" }, "-c: its value is empty" },
};

static void bad_input_is_refused_and_named(void **state)
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

static void what_this_build_lacks_is_refused_not_ignored(void **state)
{
	int refused = 0;

	(void)state;
	for (size_t i = 0; i < run_option_count; i++) {
		const char *words[] = { run_options[i].name, run_options[i].arg ? "/x" : NULL,
					NULL };
		struct err err = { 0 };
		struct spec spec;
		int used;

		if (!run_options[i].refused)
			continue;
		refused++;
		assert_true(parse(&spec, words, &used, &err) < 0);
		assert_int_equal(err.category, ERR_UNSUPPORTED);
		assert_int_equal(strncmp(err.text, words[0], strlen(words[0])), 0);
		assert_non_null(strstr(err.text, "in this build"));
		spec_done(&spec);
	}
	assert_int_equal(refused, 1);
}

static void a_command_takes_only_its_own_groups(void **state)
{
	char *update[] = { "--pids", "5", "--name", "x", NULL }, *letter[] = { "-d", NULL };
	struct err err = { 0 };
	struct spec spec;
	int used;

	(void)state;
	spec_init(&spec);
	assert_true(option_parse(&spec, 1U << GROUP_LIMITS, 4, update, &used, &err) < 0);
	assert_string_equal(err.text, "--name: not an option of this command");
	spec_done(&spec);

	spec_init(&spec);
	assert_true(option_parse(&spec, 1U << GROUP_LIMITS, 1, letter, &used, &err) < 0);
	assert_string_equal(err.text, "-d: unknown option");
	spec_done(&spec);
}

static void values_never_appear_in_messages_about_variables(void **state)
{
	static const char *const words[] = { "-e", "A=hunter2", "-e", "A=hunter2", NULL };
	struct err err = { 0 };
	struct spec spec;
	int used;

	(void)state;
	assert_true(parse(&spec, words, &used, &err) < 0);
	assert_null(strstr(err.text, "hunter2"));
	spec_done(&spec);
}

static void a_message_about_a_long_value_stays_one_short_line(void **state)
{
	static char value[100000];
	const char *words[] = { "--timeout", value, NULL };
	struct err err = { 0 };
	struct spec spec;
	int used;

	(void)state;
	memset(value, '\n', sizeof(value) - 1);
	assert_true(parse(&spec, words, &used, &err) < 0);
	assert_true(strlen(err.text) < 200);
	assert_null(strchr(err.text, '\n'));
	spec_done(&spec);
}

static void each_option_lands_in_its_field(void **state)
{
	struct spec s;

	(void)state;
	PARSE(&s, "--stdin=in.txt", "--result=fd:3", "--owner=fd:7", "--leftovers=wait",
	      "--pid-ns=off");
	assert_int_equal(s.stdin_mode, STDIN_FILE);
	assert_string_equal(s.stdin_file, "in.txt");
	assert_string_equal(s.result, "fd:3");
	assert_int_equal(s.owner_mode, OWNER_FD);
	assert_int_equal(s.owner_arg, 7);
	assert_int_equal(s.leftovers, LEFTOVERS_WAIT);
	assert_int_equal(s.pid_ns, TRI_OFF);
	spec_done(&s);

	PARSE(&s, "-u", "bob:staff", "-knone", "-sINT", "-C/x", "--workdir=new", "--private-tmp",
	      "--color=never");
	assert_string_equal(s.user, "bob");
	assert_string_equal(s.group, "staff");
	assert_int_equal(s.kill_after_ns, 0);
	assert_int_equal(s.stop_signal, SIGINT);
	assert_string_equal(s.chdir, "/x");
	assert_int_equal(s.workdir_mode, WORKDIR_NEW);
	assert_null(s.workdir);
	assert_true(s.private_tmp);
	assert_int_equal(s.color, TRI_OFF);
	spec_done(&s);

	PARSE(&s, "-eA=b=c", "-eB", "--label", "k=", "--label=j=x y",
	      "--allow-reduced=memory_cap,pids_cap", "--owner", "12", "--no-keep-spill",
	      "--spill-at=1M", "-c", "echo $1");
	assert_string_equal(s.env[0].value, "b=c");
	assert_null(s.env[1].value);
	assert_string_equal(s.labels[0].value, "");
	assert_string_equal(s.labels[1].value, "x y");
	assert_int_equal(s.allow_reduced_count, 2);
	assert_string_equal(s.allow_reduced[1], "pids_cap");
	assert_int_equal(s.owner_mode, OWNER_PID);
	assert_int_equal(s.owner_arg, 12);
	assert_false(s.keep_spill);
	assert_true(s.spill_at_bytes == 1 << 20);
	assert_string_equal(s.shell, "echo $1");
	spec_done(&s);
}

static void more_than_the_bounds_is_refused(void **state)
{
	enum { LABELS = SPEC_LABELS_MAX + 1 };
	static char texts[LABELS][16];
	char *argv[LABELS];
	struct err err = { 0 };
	struct spec spec;
	int used;

	(void)state;
	for (int i = 0; i < LABELS; i++) {
		snprintf(texts[i], sizeof(texts[i]), "--label=k%d=v", i);
		argv[i] = texts[i];
	}
	spec_init(&spec);
	assert_int_equal(option_parse(&spec, OPTION_GROUPS_ALL, LABELS - 1, argv, &used, &err), 0);
	spec_done(&spec);
	spec_init(&spec);
	assert_true(option_parse(&spec, OPTION_GROUPS_ALL, LABELS, argv, &used, &err) < 0);
	assert_non_null(strstr(err.text, "more than 64 labels"));
	spec_done(&spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_option_has_one_row_and_says_what_it_does),
		cmocka_unit_test(every_design_option_is_in_the_table),
		cmocka_unit_test(a_value_may_come_in_four_ways),
		cmocka_unit_test(letters_can_be_grouped),
		cmocka_unit_test(parsing_stops_at_the_command),
		cmocka_unit_test(bad_input_is_refused_and_named),
		cmocka_unit_test(what_this_build_lacks_is_refused_not_ignored),
		cmocka_unit_test(a_command_takes_only_its_own_groups),
		cmocka_unit_test(values_never_appear_in_messages_about_variables),
		cmocka_unit_test(a_message_about_a_long_value_stays_one_short_line),
		cmocka_unit_test(each_option_lands_in_its_field),
		cmocka_unit_test(more_than_the_bounds_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
