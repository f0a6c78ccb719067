/* SPDX-License-Identifier: Apache-2.0 */
/* Which mounts a policy needs: one where rights change, a pin where a rename would carry one away, none twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kern/confine_plan.h"

#define RX (FILE_READ | FILE_EXEC)
#define ALL FILE_ALL

struct said {
	const char *path;
	unsigned int rights;
};

static struct confine_node nodes[CONFINE_MOUNTS_MAX];

/* "path:rights" of every node but /proc and what is below it, "!" for masks, "+" for a way through one. */
static const char *plan(const struct said *said, size_t count)
{
	static char text[4096];
	struct file_rule rules[16] = { 0 };
	const struct file_policy policy = { .rules = rules, .count = count };
	const struct confine_opts opts = { .policy = &policy, .mounts = true, .uid = 1000 };
	struct confine_plan p = { .nodes = nodes };
	size_t len = 0;

	for (size_t i = 0; i < count; i++)
		rules[i] = (struct file_rule){ .path = (char *)said[i].path,
					       .rights = said[i].rights,
					       .reach = FILE_OBJECT,
					       .directory = true };
	assert_int_equal(confine_plan(&p, &opts), 0);
	assert_int_equal(strncmp(p.nodes[0].path, "/proc", p.nodes[0].len), 0);
	*text = '\0';
	for (size_t i = 1; i < p.count; i++) {
		const struct confine_node *n = &p.nodes[i];

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s:%u%s%s",
					len ? " " : "", (int)n->len, n->path, n->rights,
					n->mask ? "!" : "", n->way ? "+" : "");
		assert_true(n->above < (int)i);
	}
	return text;
}

#define PLAN(...)                                  \
	plan((const struct said[]){ __VA_ARGS__ }, \
	     sizeof((const struct said[]){ __VA_ARGS__ }) / sizeof(struct said))

static void what_changes_no_right_needs_no_mount(void **state)
{
	(void)state;
	assert_string_equal(PLAN({ "/", RX }), "");
	assert_string_equal(PLAN({ "/", RX }, { "/etc", RX }), "");
	assert_string_equal(PLAN({ "/", RX }, { "/w", ALL }, { "/w/a", ALL }), "/w:7");
	assert_string_equal(PLAN({ "/", 0 }, { "/etc", 0 }), "");
}

static void a_denial_is_a_mask_and_one_in_it_nothing(void **state)
{
	(void)state;
	assert_string_equal(PLAN({ "/", RX }, { "/h", 0 }, { "/h/s", 0 }), "/h:0!");
	assert_string_equal(PLAN({ "/", RX }, { "/h", 0 }, { "/h/w", ALL }, { "/h/w/x", 0 }),
			    "/h:0!+ /h/w:7 /h/w/x:0!");
}

static void what_lies_between_in_a_writable_tree_is_pinned_once(void **state)
{
	(void)state;
	assert_string_equal(PLAN({ "/", RX }, { "/w", ALL }, { "/w/a/b/c", RX }, { "/w/a/b/d", 0 },
				 { "/w/e", FILE_READ }),
			    "/w:7 /w/a:7 /w/a/b:7 /w/a/b/c:5 /w/a/b/d:0! /w/e:1");
	assert_string_equal(PLAN({ "/", ALL }, { "/h/u/.ssh", 0 }, { "/h/u/k", 0 }),
			    "/h:7 /h/u:7 /h/u/.ssh:0! /h/u/k:0!");
	/* A rule of the same rights above does not stand for a pin. */
	assert_string_equal(PLAN({ "/", RX }, { "/w", ALL }, { "/w/a", ALL }, { "/w/a/x", ALL },
				 { "/w/a/y", 0 }),
			    "/w:7 /w/a:7 /w/a/y:0!");
}

static void nothing_is_pinned_where_nothing_can_be_renamed(void **state)
{
	(void)state;
	assert_string_equal(PLAN({ "/", RX }, { "/h/u/.ssh", 0 }, { "/h/u/w/x", ALL }),
			    "/h/u/.ssh:0! /h/u/w/x:7");
	assert_string_equal(PLAN({ "/", ALL }, { "/r", RX }, { "/r/a/b", ALL }), "/r:5 /r/a/b:7");
}

static void names_that_begin_alike_are_not_within_each_other(void **state)
{
	(void)state;
	assert_string_equal(PLAN({ "/", RX }, { "/w", ALL }, { "/w-x", 0 }, { "/w.d", ALL },
				 { "/w/x", RX }),
			    "/w:7 /w-x:0! /w.d:7 /w/x:5");
}

/* Root may write what concerns the host in /proc without any capability. */
static void proc_is_its_own_mount(void **state)
{
	struct file_rule rules[2] = { { .path = (char *)"/", .rights = RX, .reach = FILE_OBJECT },
				      { .path = (char *)"/proc", .reach = FILE_OBJECT } };
	struct file_policy policy = { .rules = rules, .count = 1 };
	struct confine_opts opts = { .policy = &policy, .uid = 0 };
	struct confine_plan p = { .nodes = nodes };

	(void)state;
	assert_int_equal(confine_plan(&p, &opts), 0);
	assert_true(p.count > 2 && p.nodes[0].rights == ALL && p.nodes[1].rights == RX);
	opts.uid = 1000;
	assert_int_equal(confine_plan(&p, &opts), 0);
	assert_true(p.count == 1 && p.nodes[0].rights == ALL);
	policy.count = 2;
	assert_int_equal(confine_plan(&p, &opts), 0);
	assert_true(p.count == 1 && p.nodes[0].mask);
	policy.count = 1;
	rules[0].rights = ALL;
	opts.uid = 0;
	assert_int_equal(confine_plan(&p, &opts), 0);
	assert_true(p.count == 1);
}

static void too_many_mounts_are_refused(void **state)
{
	struct file_rule *rules = calloc(CONFINE_MOUNTS_MAX + 1, sizeof(*rules));
	struct file_policy policy = { .rules = rules, .count = CONFINE_MOUNTS_MAX + 1 };
	const struct confine_opts opts = { .policy = &policy, .uid = 1000 };
	struct confine_plan p = { .nodes = nodes };

	(void)state;
	assert_non_null(rules);
	rules[0] = (struct file_rule){ .path = strdup("/"), .rights = RX, .reach = FILE_OBJECT };
	for (size_t i = 1; i < policy.count; i++) {
		char path[24];

		snprintf(path, sizeof(path), "/f%05zu", i);
		rules[i] = (struct file_rule){ .path = strdup(path), .reach = FILE_OBJECT };
	}
	assert_int_equal(confine_plan(&p, &opts), -E2BIG);
	policy.count--;
	assert_int_equal(confine_plan(&p, &opts), 0);
	for (size_t i = 0; i <= policy.count; i++)
		free(rules[i].path);
	free(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_changes_no_right_needs_no_mount),
		cmocka_unit_test(a_denial_is_a_mask_and_one_in_it_nothing),
		cmocka_unit_test(what_lies_between_in_a_writable_tree_is_pinned_once),
		cmocka_unit_test(nothing_is_pinned_where_nothing_can_be_renamed),
		cmocka_unit_test(names_that_begin_alike_are_not_within_each_other),
		cmocka_unit_test(proc_is_its_own_mount),
		cmocka_unit_test(too_many_mounts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
