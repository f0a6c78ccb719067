/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 120 */
/* Who looks on sees every tracked process once, with its threads and CPU, and nobody else; and is told when the half
 * is gone. */
#include "keeper.h"

#include "kern/view.h"

static struct kern *k;
static const struct kern_sandbox_opts owned = { .keeper_owns = true };

#define CHILDREN 20
#define THREADS 3

static void *nap(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static int spin_and_sleep(void *ready)
{
	pthread_t thread;
	int fd = *(int *)ready;

	for (int i = 0; i < CHILDREN; i++)
		if (!fork())
			nap(NULL);
	for (int i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, nap, NULL);
	prctl(PR_SET_NAME, "looked-at");
	for (uint64_t end = clock_boot_ns() + 50000000; clock_boot_ns() < end;)
		;
	MUST(write(fd, "x", 1) == 1);
	nap(NULL);
	return 0;
}

static const struct view_process *find(const struct view_processes *p, uint32_t pid)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->list[i].pid == pid)
			return &p->list[i];
	return NULL;
}

static size_t count_of(const struct view_processes *p, uint64_t id)
{
	size_t n = 0;

	for (size_t i = 0; i < p->count; i++)
		n += p->list[i].sandbox == id;
	return n;
}

static void every_process_is_seen_once(void **state)
{
	struct view_processes p = { 0 };
	const struct view_process *root;
	struct tree t;
	int ready[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	tree_start(&t, k, &owned, spin_and_sleep, &ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(view_processes(k, &p), 0);
	assert_int_equal(count_of(&p, t.id), CHILDREN + 1);
	root = find(&p, (uint32_t)t.root);
	assert_non_null(root);
	assert_true(root->root);
	assert_int_equal(root->threads, THREADS);
	assert_string_equal(root->comm, "looked-at");
	assert_int_equal(root->ppid, getpid());
	assert_true(root->cpu_ns > 10000000);
	for (size_t i = 1; i < p.count; i++)
		assert_true(p.list[i - 1].sandbox < p.list[i].sandbox ||
			    p.list[i - 1].start_ns <= p.list[i].start_ns);
	assert_null(find(&p, (uint32_t)getpid()));
	assert_true(kern_signal_tree(k, t.id, SIGKILL) >= 0);
	waitpid(t.root, NULL, 0);
	close(t.pidfd);
	kern_sandbox_delete(k, t.id);
	view_processes_done(&p);
	close(ready[0]);
	close(ready[1]);
}

static int note(void *arg, const struct sbx_sandbox *row)
{
	uint64_t *wanted = arg;

	if (row->id == wanted[0])
		wanted[1]++;
	return 0;
}

static void every_sandbox_is_seen(void **state)
{
	enum { MANY = 300 }; /* more than a batch */
	struct err err = { .text = "" };
	uint64_t ids[MANY] = { 0 };

	(void)state;
	for (int i = 0; i < MANY; i++) {
		OK(&err, kern_sandbox_create(k, &owned, &ids[i], &err));
	}
	for (int i = 0; i < MANY; i += 37) {
		uint64_t wanted[2] = { ids[i], 0 };

		assert_int_equal(view_sandboxes(k, note, wanted), 0);
		assert_int_equal(wanted[1], 1);
	}
	for (int i = 0; i < MANY; i++)
		assert_int_equal(kern_sandbox_delete(k, ids[i]), 0);
}

static void an_unload_is_noticed_and_nothing_is_loaded_for_a_look(void **state)
{
	struct err err = { .text = "" };
	struct kern *looking = NULL, *nobody = NULL;

	(void)state;
	OK(&err, kern_look(&looking, &err));
	assert_false(view_stale(looking));
	kern_close(k);
	OK(&err, kern_unload(&err));
	assert_true(view_stale(looking));
	assert_true(kern_look(&nobody, &err) < 0);
	assert_int_equal(err.category, ERR_NOT_FOUND);
	assert_null(nobody);
	kern_close(looking);
	k = open_kern();
}

static int load(void **state)
{
	(void)state;
	k = open_kern();
	return 0;
}

static int unload(void **state)
{
	(void)state;
	kern_close(k);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_process_is_seen_once),
		cmocka_unit_test(every_sandbox_is_seen),
		cmocka_unit_test(an_unload_is_noticed_and_nothing_is_loaded_for_a_look),
	};

	if (geteuid()) {
		printf("needs root\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, load, unload);
}
