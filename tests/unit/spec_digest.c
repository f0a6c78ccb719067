/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "policy/option.h"
#include "policy/spec.h"

#define ARGS_MAX 12

static void digest_of(const char *const *words, char out[65])
{
	char *argv[ARGS_MAX + 1] = { NULL };
	struct err err = { 0 };
	struct spec spec;
	int argc = 0, used, r;

	for (; argc < ARGS_MAX && words[argc]; argc++)
		argv[argc] = (char *)words[argc];
	spec_init(&spec);
	r = option_parse(&spec, OPTION_GROUPS_ALL, argc, argv, &used, &err);
	if (!r)
		r = spec_set_command(&spec, argc - used, argv + used, &err);
	if (!r)
		r = spec_check(&spec, &err);
	if (!r)
		r = spec_digest(&spec, out, &err);
	if (r < 0)
		fail_msg("%s", err.text);
	spec_done(&spec);
}

struct pair {
	const char *one[ARGS_MAX], *other[ARGS_MAX];
};

static int compare(const struct pair *pair)
{
	char one[65], other[65];

	digest_of(pair->one, one);
	digest_of(pair->other, other);
	assert_int_equal(strlen(one), 64);
	return strcmp(one, other);
}

static void the_same_policy_has_the_same_digest_however_it_was_said(void **state)
{
	static const struct pair pairs[] = {
		{ { "-pnone", "-t5", "-m1G", "x" },
		  { "-m", "1024M", "--timeout=5000ms", "-p", "none", "x" } },
		{ { "-pnone", "-eA=1", "-eB=2", "x" }, { "-eB=2", "-pnone", "-eA=1", "x" } },
		{ { "-pnone", "--pass-env=A*", "--pass-env=B*", "x" },
		  { "-pnone", "--pass-env=B*", "--pass-env=A*", "--pass-env=B*", "x" } },
		{ { "-pnone", "--allow-reduced=memory_cap,pids_cap", "x" },
		  { "-pnone", "--allow-reduced=pids_cap", "--allow-reduced=memory_cap", "x" } },
		{ { "-pnone", "--limits=strict", "x" },
		  { "-pnone", "-t1", "-m128M", "--pids=32", "--max-output=64K", "x" } },
		{ { "-pnone", "--timeout=none", "x" }, { "-pnone", "x" } },
		{ { "-pnone", "-q", "--name=n", "--label=a=b", "x" },
		  { "-pnone", "-v", "--json", "x" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (compare(&pairs[i]) != 0)
			fail_msg("pair %zu differs", i);
}

static void another_policy_has_another_digest(void **state)
{
	static const struct pair pairs[] = {
		{ { "-pnone", "x" }, { "-pnone", "y" } },
		{ { "-pnone", "x", "ab", "c" }, { "-pnone", "x", "a", "bc" } },
		{ { "-pnone", "x", "a b" }, { "-pnone", "x", "a", "b" } },
		{ { "-pnone", "x", "" }, { "-pnone", "x" } },
		{ { "-pnone", "-cx" }, { "-pnone", "x" } },
		{ { "-pnone", "-t5", "x" }, { "-pnone", "-t6", "x" } },
		{ { "-pnone", "-t5", "x" }, { "-pnone", "--idle-timeout=5", "x" } },
		{ { "-pnone", "--swap=0", "x" }, { "-pnone", "--swap=none", "x" } },
		{ { "-pnone", "-eA=1", "x" }, { "-pnone", "-eA=2", "x" } },
		{ { "-pnone", "-eA=", "x" }, { "-pnone", "-eA", "x" } },
		{ { "-pnone", "-eA=B", "x" }, { "-pnone", "-eAB=", "x" } },
		{ { "-pnone", "-ua", "x" }, { "-pnone", "-ua:a", "x" } },
		{ { "-pnone", "-i", "x" }, { "-pnone", "x" } },
		{ { "-pnone", "--private-tmp", "x" }, { "-pnone", "x" } },
		{ { "-pnone", "--workdir=new", "x" }, { "-pnone", "--workdir=/new", "x" } },
		{ { "-pnone", "-C/a", "x" }, { "-pnone", "--workdir=/a", "x" } },
		{ { "-pnone", "--kill-after=none", "x" }, { "-pnone", "x" } },
		{ { "-pnone", "--leftovers=keep", "x" }, { "-pnone", "--leftovers=wait", "x" } },
		{ { "-pnone", "--allow-reduced=memory_cap", "x" }, { "-pnone", "x" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (!compare(&pairs[i]))
			fail_msg("pair %zu is the same", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_policy_has_the_same_digest_however_it_was_said),
		cmocka_unit_test(another_policy_has_another_digest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
