/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/option.h"
#include "policy/spec.h"

#define ARGS_MAX 12

/* As `sbxctl run WORD...` does it. */
static int build(struct spec *spec, const char *const *words, struct err *err)
{
	char *argv[ARGS_MAX + 1] = { NULL };
	int argc = 0, used, r;

	for (; argc < ARGS_MAX && words[argc]; argc++)
		argv[argc] = (char *)words[argc];
	spec_init(spec);
	r = option_parse(spec, OPTION_GROUPS_ALL, argc, argv, &used, err);
	if (!r)
		r = spec_set_command(spec, argc - used, argv + used, err);
	return r ? r : spec_check(spec, err);
}

static void build_well(struct spec *spec, const char *const *words)
{
	struct err err = { 0 };

	if (build(spec, words, &err) < 0)
		fail_msg("%s", err.text);
}
#define BUILD(spec, ...) build_well(spec, (const char *const[]){ "-pnone", __VA_ARGS__, NULL })

static void contradictions_and_gaps_are_refused_and_named(void **state)
{
	static const struct {
		const char *words[8];
		const char *says;
	} rows[] = {
		{ { "-pnone" }, "no command" },
		{ { "-pnone", "--" }, "no command" },
		{ { "-pnone", "" }, "name is empty" },
		{ { "-pnone", "-qv", "x" }, "-q and -v" },
		{ { "-pnone", "--pty", "--json", "x" }, "--pty and --json" },
		{ { "-pnone", "--pty", "-d", "x" }, "--pty and -d" },
		{ { "-pnone", "--pty", "--stdin=f", "x" }, "--pty and --stdin=FILE" },
		{ { "-pnone", "-id", "x" }, "-i and -d" },
		{ { "-pnone", "-d", "--json", "x" }, "--json and -d" },
		{ { "-pnone", "-d", "--tree", "x" }, "--tree and -d" },
		{ { "-pnone", "-q", "--tree", "x" }, "--tree and -q" },
		{ { "-pnone", "--spill-at", "2M", "--max-output", "1M", "x" },
		  "--spill-at 2 MiB is more than --max-output 1 MiB" },
		{ { "-pnone", "--spill-at", "2M", "--limits", "default", "x" },
		  "--max-output 1 MiB" },
		{ { "-pnone", "--preview", "8M", "x" },
		  "--preview 8 MiB is more than --spill-at 4 MiB" },
		{ { "-pnone", "--preview", "2K", "--spill-at", "1K", "x" }, "--preview 2 KiB" },
		{ { "-pnone", "--preview", "2K", "--max-output", "1K", "x" }, "--preview 2 KiB" },
		{ { "-pnone", "--pass-env", "GH_TOKEN", "x" }, "say -e GH_TOKEN" },
		{ { "-pnone", "--audit", "x" }, "--audit: there is no file rule" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { 0 };
		struct spec spec;

		if (build(&spec, rows[i].words, &err) >= 0)
			fail_msg("row %zu is accepted", i);
		if (!strstr(err.text, rows[i].says))
			fail_msg("'%s' does not say '%s'", err.text, rows[i].says);
		spec_done(&spec);
	}
}

static void a_run_without_limits_has_a_waived_deadline(void **state)
{
	struct spec spec;

	(void)state;
	BUILD(&spec, "x");
	assert_int_equal(spec.limits[LIMIT_WALL].origin, ORIGIN_WAIVED);
	for (int id = 0; id < LIMIT__COUNT; id++) {
		assert_false(limit_in_force(&spec.limits[id]));
		if (id != LIMIT_WALL)
			assert_int_equal(spec.limits[id].origin, ORIGIN_UNSET);
	}
	spec_done(&spec);
}

static void explicit_limits_beat_the_preset_wherever_they_stand(void **state)
{
	static const char *const orders[2][6] = { { "-pnone", "--limits=strict", "-t9", "x" },
						  { "-pnone", "-t9", "--limits=strict", "x" } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct spec spec;

		build_well(&spec, orders[i]);
		assert_true(spec.limits[LIMIT_WALL].value == 9000000000ULL);
		assert_int_equal(spec.limits[LIMIT_WALL].origin, ORIGIN_EXPLICIT);
		assert_int_equal(spec.limits[LIMIT_PIDS].origin, ORIGIN_PRESET);
		spec_done(&spec);
	}
}

static void defaults_shrink_with_the_cap(void **state)
{
	struct spec spec;

	(void)state;
	BUILD(&spec, "x");
	assert_true(spec.spill_at_bytes == 4 << 20 && spec.preview_bytes == 64 << 10);
	spec_done(&spec);

	BUILD(&spec, "--max-output", "1K", "x");
	assert_true(spec.spill_at_bytes == 1024 && spec.preview_bytes == 1024);
	spec_done(&spec);

	BUILD(&spec, "--max-output=none", "--spill-at", "100K", "x");
	assert_true(spec.spill_at_bytes == 100 << 10 && spec.preview_bytes == 64 << 10);
	spec_done(&spec);

	BUILD(&spec, "--max-output=1M", "--spill-at=1M", "--preview=1M", "x");
	assert_true(spec.spill_at_bytes == 1 << 20 && spec.preview_bytes == 1 << 20);
	spec_done(&spec);
}

static void a_detached_run_has_no_owner_unless_one_is_named(void **state)
{
	struct spec spec;

	(void)state;
	BUILD(&spec, "x");
	assert_int_equal(spec.owner_mode, OWNER_PARENT);
	spec_done(&spec);
	BUILD(&spec, "-d", "x");
	assert_int_equal(spec.owner_mode, OWNER_NONE);
	spec_done(&spec);
	BUILD(&spec, "-d", "--owner=7", "x");
	assert_int_equal(spec.owner_mode, OWNER_PID);
	spec_done(&spec);
}

static void the_command_is_copied_word_by_word(void **state)
{
	struct spec spec;

	(void)state;
	BUILD(&spec, "--", "printf", "-v", "", "; touch /tmp/pwned", "$(id)");
	assert_int_equal(spec.argc, 5);
	assert_string_equal(spec.argv[1], "-v");
	assert_string_equal(spec.argv[2], "");
	assert_string_equal(spec.argv[3], "; touch /tmp/pwned");
	assert_string_equal(spec.argv[4], "$(id)");
	assert_null(spec.argv[5]);
	assert_null(spec.shell);
	spec_done(&spec);
}

static void a_shell_string_needs_no_command(void **state)
{
	struct spec spec;

	(void)state;
	BUILD(&spec, "-c", "echo $0 $1", "zero", "one");
	assert_string_equal(spec.shell, "echo $0 $1");
	assert_int_equal(spec.argc, 2);
	spec_done(&spec);
	BUILD(&spec, "-c", "true");
	assert_int_equal(spec.argc, 0);
	spec_done(&spec);
}

static void too_many_arguments_are_refused_before_they_are_copied(void **state)
{
	char **argv = calloc(SPEC_ARGS_MAX + 2, sizeof(*argv));
	struct err err = { 0 };
	struct spec spec;

	(void)state;
	assert_non_null(argv);
	for (int i = 0; i <= SPEC_ARGS_MAX; i++)
		argv[i] = (char *)"a";
	spec_init(&spec);
	assert_int_equal(spec_set_command(&spec, SPEC_ARGS_MAX + 1, argv, &err), -E2BIG);
	assert_non_null(strstr(err.text, "65537 arguments"));
	assert_null(spec.argv);
	assert_int_equal(spec_set_command(&spec, SPEC_ARGS_MAX, argv, &err), 0);
	spec_done(&spec);
	free(argv);
}

static void ten_megabytes_of_arguments_are_refused_in_one_line(void **state)
{
	char *big = malloc((10 << 20) + 1), *argv[] = { (char *)"x", big, NULL };
	struct err err = { 0 };
	struct spec spec;

	(void)state;
	assert_non_null(big);
	memset(big, 'a', 10 << 20);
	big[10 << 20] = '\0';
	spec_init(&spec);
	assert_int_equal(spec_set_command(&spec, 2, argv, &err), -E2BIG);
	assert_non_null(strstr(err.text, "arguments are 10485763 bytes"));
	spec_done(&spec);
	free(big);
}

static void names_are_text_without_control_characters(void **state)
{
	static const struct {
		const char *name;
		bool valid;
	} rows[] = {
		{ "a", true },	   { "a b", true },	  { "\xc3\xa9", true },
		{ "", false },	   { "a\n", false },	  { "\x7f", false },
		{ "\xff", false }, { "\xc2\x85", false }, { "abcdef", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (spec_name_valid(rows[i].name, 5) != rows[i].valid)
			fail_msg("row %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contradictions_and_gaps_are_refused_and_named),
		cmocka_unit_test(a_run_without_limits_has_a_waived_deadline),
		cmocka_unit_test(explicit_limits_beat_the_preset_wherever_they_stand),
		cmocka_unit_test(defaults_shrink_with_the_cap),
		cmocka_unit_test(a_detached_run_has_no_owner_unless_one_is_named),
		cmocka_unit_test(the_command_is_copied_word_by_word),
		cmocka_unit_test(a_shell_string_needs_no_command),
		cmocka_unit_test(too_many_arguments_are_refused_before_they_are_copied),
		cmocka_unit_test(ten_megabytes_of_arguments_are_refused_in_one_line),
		cmocka_unit_test(names_are_text_without_control_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
