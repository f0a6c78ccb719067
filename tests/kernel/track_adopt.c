/* SPDX-License-Identifier: Apache-2.0 */
/* A tree that runs already: adopted whole, also while it forks, counted exactly, and let go alive. */
#include "keeper.h"

#define FORKS 200 /* of the storm: each child sleeps until the end */
#define TASKS_ALONE 5000

static struct kern *k;
static const struct kern_sandbox_opts plain = { 0 };

static void forever(void)
{
	for (;;)
		pause();
}

static void *sleeper(void *arg)
{
	(void)arg;
	forever();
	return NULL;
}

static void thread(void)
{
	pthread_attr_t small;
	pthread_t t;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	if (pthread_create(&t, &small, sleeper, NULL))
		_exit(120);
}

/* A process outside every sandbox; its children are in its group. */
static pid_t outside(void (*fn)(void *), void *arg)
{
	pid_t pid = fork();

	if (!pid) {
		setpgid(0, 0);
		fn(arg);
		_exit(0);
	}
	MUST(pid > 0);
	setpgid(pid, pid);
	return pid;
}

static void adopted(struct tree *t, pid_t root, struct kern_adopted *got)
{
	struct err err = { .text = "" };

	*t = (struct tree){ .k = k, .root = root };
	OK(&err, kern_sandbox_create(k, &plain, &t->id, &err));
	OK(&err, kern_sandbox_unseed(k, t->id));
	t->pidfd = (int)syscall(SYS_pidfd_open, root, 0);
	OK(&err, kern_adopt(k, t->pidfd, t->id, got, &err));
}

static void end(struct tree *t)
{
	kill(-t->root, SIGKILL);
	waitpid(t->root, NULL, 0);
	tree_wait_live(t, 0);
	assert_int_equal(tree_row(t).live_processes, 0);
	tree_end(t);
}

/* ---- a tree at rest ------------------------------------------------------------------------------- */

static void family(void *ready)
{
	for (int i = 0; i < 3; i++)
		thread();
	for (int i = 0; i < 2; i++) {
		if (fork())
			continue;
		thread();
		if (!fork())
			forever();
		__sync_fetch_and_add((int *)ready, 1);
		forever();
	}
	forever();
}

static void threads_and_descendants_are_adopted_and_counted(void **state)
{
	int *ready = shared(sizeof(*ready));
	struct kern_adopted got;
	struct sbx_sandbox row;
	struct tree t;
	pid_t root = outside(family, ready);

	(void)state;
	while (*(volatile int *)ready < 2)
		sleep_ms(1);
	sleep_ms(50);
	adopted(&t, root, &got);
	row = tree_row(&t);
	assert_int_equal(got.processes, 5);
	assert_int_equal(got.threads, 10);
	assert_int_equal(rows_of(k, t.id), 10);
	assert_int_equal(row.processes, 5);
	assert_int_equal(row.root_pid, root);
	end(&t);
	assert_int_equal(rows_of(k, 0), 0);
}

static void what_is_let_go_lives_and_its_children_have_no_label(void **state)
{
	int *ready = shared(sizeof(*ready));
	struct kern_adopted got;
	struct tree t;
	uint64_t label = 1;
	pid_t root = outside(family, ready);

	(void)state;
	while (*(volatile int *)ready < 2)
		sleep_ms(1);
	adopted(&t, root, &got);
	assert_int_equal(kern_let_go(k, t.id), 0);
	assert_int_equal(kern_label_of(k, t.pidfd, &label), 0);
	assert_int_equal(label, 0);
	assert_int_equal(rows_of(k, t.id), 0);
	tree_end(&t);
	assert_int_equal(kill(root, 0), 0);

	adopted(&t, root, &got); /* and may come back */
	assert_int_equal(got.processes, 5);
	end(&t);
}

static void a_member_of_another_sandbox_stays_there(void **state)
{
	int *ready = shared(sizeof(*ready));
	struct err err = { .text = "" };
	struct kern_adopted got;
	struct tree t, other = { .k = k };
	pid_t root = outside(family, ready);

	(void)state;
	while (*(volatile int *)ready < 2)
		sleep_ms(1);
	adopted(&t, root, &got);
	OK(&err, kern_sandbox_create(k, &plain, &other.id, &err));
	OK(&err, kern_sandbox_unseed(k, other.id));
	assert_int_equal(kern_adopt(k, t.pidfd, other.id, &got, &err), -EBUSY);
	assert_int_equal(tree_row(&other).live, 0);
	kern_sandbox_delete(k, other.id);
	end(&t);
}

/* ---- while it forks ------------------------------------------------------------------------------------- */

struct storm {
	volatile int forked, stop;
};

/* Forks a child a millisecond from two threads; each child forks one of its own. */
static void *forker(void *arg)
{
	struct storm *s = arg;

	while (!s->stop && __sync_fetch_and_add(&s->forked, 1) < FORKS) {
		pid_t child = fork();

		if (!child) {
			fork();
			forever();
		}
		sleep_ms(1);
	}
	return NULL;
}

static void storm(void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, forker, arg))
		_exit(120);
	forker(arg);
	forever();
}

/* Processes of a group, by /proc: what the kernel half is held against. */
static unsigned int group_size(pid_t group)
{
	char command[96], text[16] = "";
	FILE *f;

	snprintf(command, sizeof(command),
		 "ps -e -o pgid=,stat= | awk '$1 == %d && $2 !~ /^Z/' | wc -l", group);
	f = popen(command, "r");
	MUST(f && fgets(text, sizeof(text), f));
	pclose(f);
	return (unsigned int)atoi(text);
}

static void nobody_is_lost_while_the_tree_forks(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct storm *s = shared(sizeof(*s));
		struct kern_adopted got;
		struct tree t;
		pid_t root = outside(storm, s);

		while (s->forked < 50 + 40 * i)
			sleep_ms(1);
		adopted(&t, root, &got);
		while (s->forked < FORKS)
			sleep_ms(1);
		sleep_ms(200);
		assert_int_equal(tree_row(&t).live_processes, group_size(root));
		assert_int_equal(tree_row(&t).live, rows_of(k, t.id));
		end(&t);
		munmap(s, sizeof(*s));
	}
	assert_int_equal(rows_of(k, 0), 0);
}

/* ---- speed ------------------------------------------------------------------------------------------------ */

static void crowd(void *arg)
{
	struct storm *s = arg;

	for (int i = 0; i < TASKS_ALONE / 100; i++) {
		if (fork())
			continue;
		for (int n = 1; n < 100; n++)
			thread();
		__sync_fetch_and_add(&s->forked, 1);
		forever();
	}
	forever();
}

static void five_thousand_tasks_take_a_moment(void **state)
{
	struct storm *s = shared(sizeof(*s));
	struct kern_adopted got;
	struct tree t;
	uint64_t begin;
	pid_t root = outside(crowd, s);

	(void)state;
	while (s->forked < TASKS_ALONE / 100)
		sleep_ms(1);
	begin = clock_boot_ns();
	adopted(&t, root, &got);
	print_message("%u threads of %u processes in %.1f ms, %u passes\n", got.threads,
		      got.processes, (double)(clock_boot_ns() - begin) / 1e6, got.passes);
	assert_int_equal(got.threads, TASKS_ALONE + 1);
	end(&t);
}

static int open_half(void **state)
{
	(void)state;
	k = open_kern();
	return 0;
}

static int close_half(void **state)
{
	struct err err = { .text = "" };

	(void)state;
	kern_close(k);
	OK(&err, kern_unload(&err));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_and_descendants_are_adopted_and_counted),
		cmocka_unit_test(what_is_let_go_lives_and_its_children_have_no_label),
		cmocka_unit_test(a_member_of_another_sandbox_stays_there),
		cmocka_unit_test(nobody_is_lost_while_the_tree_forks),
		cmocka_unit_test(five_thousand_tasks_take_a_moment),
	};

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return cmocka_run_group_tests(tests, open_half, close_half);
}
