/* SPDX-License-Identifier: Apache-2.0 */
/* What putting a policy of fifty rules in force takes, and that nothing of it is left. */
#include "files_scene.h"

#include <bpf/bpf.h>

#include "kern/half.h"
#include "sbx/files.h"

#define RULES 50
#define TIMES 15

static struct line lines[RULES];
static char paths[RULES][32];

static void make_lines(void)
{
	char path[64];

	lines[0] = (struct line){ FILE_RO, "/", FILE_OBJECT };
	lines[1] = (struct line){ FILE_RW, "w", FILE_OBJECT };
	for (int i = 2; i < RULES; i++) {
		snprintf(paths[i], sizeof(paths[i]), "w/rule-%d", i);
		lines[i] = (struct line){ FILE_RO, paths[i], FILE_OBJECT };
		snprintf(path, sizeof(path), "%s/%s", SCRATCH, paths[i]);
		MUST(!mkdir(path, 0755));
	}
}

static size_t rows(enum half_pin pin)
{
	char key[sizeof(struct sbx_fs_entry_key)], *at = NULL;
	size_t n = 0;

	for (; !bpf_map_get_next_key(half_fd(k, pin), at, key); at = key)
		n++;
	return n;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Nobody opens anything meanwhile: what was in force before may be taken back at once. */
static uint64_t publish_ns(struct guarded *g)
{
	struct files_opts how = { .sandbox = g->tree.id, .pid = g->tree.root };
	struct err err = { .text = "" };
	struct files *fresh = NULL;
	uint64_t begin = clock_boot_ns(), took;

	OK(&err, files_publish(&fresh, k, &g->policy, &how, &err));
	took = clock_boot_ns() - begin;
	files_release(g->files, k);
	g->files = fresh;
	return took;
}

static int waits(void *arg)
{
	char byte;

	return read(*(int *)arg, &byte, 1) != 1;
}

static void fifty_rules_are_published_and_leave_nothing(void **state)
{
	uint64_t took[TIMES];
	struct guarded g;
	size_t objects;
	int pair[2];

	(void)state;
	if (!k)
		skip();
	make_lines();
	MUST(!pipe2(pair, O_CLOEXEC));
	guarded_start(&g, k, lines, RULES, false, waits, &pair[0]);
	objects = rows(HALF_FS_OBJECTS);
	assert_true(objects >= RULES);
	for (int i = 0; i < TIMES; i++)
		took[i] = publish_ns(&g);
	assert_int_equal(rows(HALF_FS_OBJECTS), objects);
	qsort(took, TIMES, sizeof(took[0]), by_number);
	print_message("# publishing %d rules takes %llu ns\n", RULES,
		      (unsigned long long)took[TIMES / 2]);
	MUST(write(pair[1], "x", 1) == 1);
	assert_int_equal(guarded_end(&g), 0);
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(rows(HALF_FS_OBJECTS) + rows(HALF_FS_ENTRIES), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fifty_rules_are_published_and_leave_nothing),
	};

	return cmocka_run_group_tests(tests, scene_make, scene_unmake);
}
