/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 60 */
/* Who holds the objects of a policy: it stays in force when the keeper is dead and the watcher is not,
 * and refuses all when nobody is left. */
#include "files_scene.h"

#include <bpf/bpf.h>
#include <sys/mman.h>

#include "kern/files_filter.h"
#include "kern/half.h"
#include "kern/watcher.h"

/* Told by the processes of the test to each other. */
struct board {
	volatile uint64_t id;
	volatile pid_t root, watcher;
	volatile int opened, denied; /* what the root's last opens answered */
	volatile unsigned int round;
	volatile bool end;
};

static int asks_again_and_again(void *arg)
{
	struct board *b = arg;

	for (; !b->end; sleep_ms(1)) {
		b->opened = try_open(F("w/f"), O_RDWR);
		b->denied = try_open(F("w/deny/f"), O_RDONLY);
		b->round++;
	}
	return 0;
}

/* Owns nothing: its death alone kills nobody. */
static void keep(struct board *b, bool watched)
{
	const struct kern_sandbox_opts opts = { .keeper_owns = false };
	struct err err = { .text = "" };
	struct files_opts how = { 0 };
	struct file_policy policy;
	struct files *files = NULL;
	struct watcher w;
	struct tree t;

	policy_make(&policy, scene, sizeof(scene) / sizeof(scene[0]));
	tree_start(&t, k, &opts, asks_again_and_again, b);
	how.sandbox = t.id;
	how.pid = t.root;
	OK(&err, files_publish(&files, k, &policy, &how, &err));
	if (watched) {
		const struct watcher_opts wo = {
			.id = t.id, .owner_fd = -1, .timer_fd = -1, .files = files, .outlives = true
		};

		OK(&err, watcher_start(&w, k, &wo, &err));
		b->watcher = w.pid;
	}
	b->root = t.root;
	b->id = t.id;
	for (;;)
		pause();
}

static pid_t keeper_start(struct board *b, bool watched)
{
	pid_t keeper = fork();

	MUST(keeper >= 0);
	if (!keeper)
		keep(b, watched);
	while (!b->id)
		sleep_ms(1);
	return keeper;
}

static struct sbx_sandbox row_of_run(const struct board *b)
{
	struct sbx_sandbox row;

	assert_int_equal(kern_sandbox_read(k, b->id, &row), 0);
	return row;
}

/* What two whole rounds from now on answer. */
static void answers_are(const struct board *b, int opened, int denied)
{
	unsigned int from = b->round;

	while (b->round - from < 3)
		sleep_ms(1);
	assert_int_equal(b->opened, opened);
	assert_int_equal(b->denied, denied);
}

static void kill_and_reap(pid_t pid)
{
	MUST(!kill(pid, SIGKILL));
	MUST(waitpid(pid, NULL, __WALL) == pid);
}

static size_t rows_left(enum half_pin pin)
{
	char key[sizeof(struct sbx_fs_entry_key)], *at = NULL;
	size_t n = 0;

	for (; !bpf_map_get_next_key(half_fd(k, pin), at, key); at = key)
		n++;
	return n;
}

static bool filter_is_empty(void)
{
	struct sbx_fs_filter *filter;
	size_t sum = 0;

	MUST(!files_filter_open(&filter, half_fd(k, HALF_FS_FILTER)));
	for (size_t i = 0; i < sizeof(filter->cells); i++)
		sum += filter->cells[i];
	files_filter_close(filter);
	return !sum;
}

static void end_run(struct board *b)
{
	b->end = true;
	MUST(waitpid(b->root, NULL, 0) == b->root);
	denials_forget(k, b->id);
	assert_int_equal(kern_sandbox_delete(k, b->id), 0);
	assert_true(rows_left(HALF_FS_OBJECTS) && rows_left(HALF_FS_ENTRIES));
	files_sweep(k);
	assert_int_equal(rows_left(HALF_FS_OBJECTS), 0);
	assert_int_equal(rows_left(HALF_FS_ENTRIES), 0);
	assert_true(filter_is_empty());
	munmap(b, sizeof(*b));
}

static struct board *board_make(void)
{
	struct board *b =
		mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	MUST(b != MAP_FAILED);
	MUST(!prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	return b;
}

static void a_dead_keeper_leaves_the_rules_to_the_watcher(void **state)
{
	struct board *b;
	pid_t keeper;

	(void)state;
	if (!k)
		skip();
	b = board_make();
	keeper = keeper_start(b, true);
	while (!row_of_run(b).files_watcher)
		sleep_ms(1);
	answers_are(b, 0, -EACCES);
	kill_and_reap(keeper);
	assert_int_equal(system("echo 2 > /proc/sys/vm/drop_caches"), 0);
	answers_are(b, 0, -EACCES);
	assert_int_equal(row_of_run(b).flags & SBX_FILES_UNHELD, 0);
	kill_and_reap(b->watcher);
	while (!(row_of_run(b).flags & SBX_FILES_UNHELD))
		sleep_ms(1);
	answers_are(b, -EACCES, -EACCES);
	end_run(b);
}

static void without_a_watcher_a_dead_keeper_leaves_nothing_allowed(void **state)
{
	struct board *b;
	pid_t keeper;

	(void)state;
	if (!k)
		skip();
	b = board_make();
	keeper = keeper_start(b, false);
	answers_are(b, 0, -EACCES);
	kill_and_reap(keeper);
	while (!(row_of_run(b).flags & SBX_FILES_UNHELD))
		sleep_ms(1);
	answers_are(b, -EACCES, -EACCES);
	end_run(b);
}

/* It ends by itself, without a kill and without a keeper. */
static void a_watcher_that_stays_ends_with_the_tree(void **state)
{
	struct board *b;
	pid_t keeper;

	(void)state;
	if (!k)
		skip();
	b = board_make();
	keeper = keeper_start(b, true);
	while (!row_of_run(b).files_watcher)
		sleep_ms(1);
	kill_and_reap(keeper);
	answers_are(b, 0, -EACCES);
	b->end = true;
	MUST(waitpid(b->watcher, NULL, __WALL) == b->watcher);
	end_run(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dead_keeper_leaves_the_rules_to_the_watcher),
		cmocka_unit_test(without_a_watcher_a_dead_keeper_leaves_nothing_allowed),
		cmocka_unit_test(a_watcher_that_stays_ends_with_the_tree),
	};

	return cmocka_run_group_tests(tests, scene_make, scene_unmake);
}
