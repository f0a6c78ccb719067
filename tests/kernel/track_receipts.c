/* SPDX-License-Identifier: Apache-2.0 */
/* Every thread of a tree has one row while it lives, and what it ended with is what waitpid(2)
 * says. */
#include "keeper.h"

static struct kern *k;
static const struct kern_sandbox_opts plain = { .keeper_owns = true };

/* ---- receipts: the root's status is what waitpid says --------------------------------------- */

static void *exit_7(void *arg)
{
	(void)arg;
	sleep_ms(20);
	exit(7);
}

static void *leave_5(void *arg)
{
	(void)arg;
	sleep_ms(20);
	syscall(SYS_exit, 5);
	return NULL;
}

static void spawn_thread(void *(*fn)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, NULL))
		_exit(120);
}

static int ends_42(void *arg)
{
	(void)arg;
	return 42;
}

static int ends_by_kill(void *arg)
{
	(void)arg;
	return raise(SIGKILL);
}

static int ends_by_segv(void *arg)
{
	(void)arg;
	signal(SIGSEGV, SIG_DFL);
	return raise(SIGSEGV);
}

static int ends_by_a_thread(void *arg)
{
	(void)arg;
	spawn_thread(exit_7);
	return pause();
}

static int leader_leaves_first(void *arg)
{
	(void)arg;
	spawn_thread(leave_5);
	syscall(SYS_exit, 3);
	return 0;
}

static int leader_leaves_then_exit(void *arg)
{
	(void)arg;
	spawn_thread(exit_7);
	syscall(SYS_exit, 3);
	return 0;
}

static void *exec_true(void *arg)
{
	(void)arg;
	execl("/bin/sh", "sh", "-c", "exit 9", NULL);
	_exit(121);
}

static int thread_execs(void *arg)
{
	(void)arg;
	spawn_thread(exec_true);
	return pause();
}

static void *all_at_once(void *arg)
{
	pthread_barrier_wait(arg);
	syscall(SYS_exit, 0);
	return NULL;
}

/* Several threads see the end of the process at the same time: it must count once. */
static int threads_leave_together(void *arg)
{
	pthread_barrier_t barrier;
	pthread_t t;

	(void)arg;
	pthread_barrier_init(&barrier, NULL, 8);
	for (int i = 0; i < 7; i++)
		if (pthread_create(&t, NULL, all_at_once, &barrier))
			_exit(120);
	all_at_once(&barrier);
	return 0;
}

static void receipt_equals_waitpid(void **state)
{
	int (*const endings[])(void *) = {
		ends_42,	  ends_by_kill,		  ends_by_segv,
		ends_by_a_thread, leader_leaves_first,	  leader_leaves_then_exit,
		thread_execs,	  threads_leave_together,
	};

	(void)state;
	for (size_t i = 0; i < 3 * sizeof(endings) / sizeof(endings[0]); i++) {
		struct sbx_sandbox row;
		struct tree t;
		int status;

		tree_start(&t, k, &plain, endings[i / 3], NULL);
		status = tree_wait(&t);
		row = tree_row(&t);
		assert_true(row.flags & SBX_ROOT_EXITED);
		assert_int_equal(row.root_status, status);
		assert_int_equal(row.root_pid, t.root);
		assert_int_equal(row.processes, 1);
		assert_int_equal(row.exits, 1);
		assert_int_equal(row.live_processes, 0);
		assert_true(row.root_exit_ns > row.root_start_ns);
		tree_end(&t);
	}
}

/* ---- counts --------------------------------------------------------------------------------- */

static void *sleeper(void *arg)
{
	(void)arg;
	pause(); /* no handler: only death ends it */
	return NULL;
}

/* 1 + 3 processes, of which two have left session and parent; 2 threads more. */
static int family(void *arg)
{
	(void)arg;
	for (int i = 0; i < 2; i++)
		if (!fork()) {
			if (i && fork())
				_exit(0);
			setsid();
			spawn_thread(sleeper);
			sleeper(NULL);
		}
	wait(NULL);
	sleeper(NULL);
	return 0;
}

static void every_thread_has_one_row(void **state)
{
	struct sbx_sandbox row;
	struct tree t;

	(void)state;
	tree_start(&t, k, &plain, family, NULL);
	for (row = tree_row(&t); row.exits != 1 || row.live != 5; row = tree_row(&t))
		sleep_ms(1);
	assert_int_equal(rows_of(k, t.id), 5);
	assert_int_equal(row.processes, 4);
	assert_int_equal(row.live_processes, 3);
	assert_int_equal(row.exits, 1);
	assert_in_range(row.live_processes_peak, 3, 4);
	assert_int_equal(kern_signal_tree(k, t.id, SIGKILL), 3);
	assert_int_equal(tree_wait(&t), SIGKILL);
	row = tree_row(&t);
	assert_int_equal(row.live_processes, 0);
	assert_int_equal(row.exits, 4);
	assert_int_equal(rows_of(k, t.id), 0);
	tree_end(&t);
}

static void a_zombie_has_no_row(void **state)
{
	struct tree t;
	siginfo_t info;

	(void)state;
	tree_start(&t, k, &plain, ends_42, NULL);
	assert_int_equal(waitid(P_PID, (id_t)t.root, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(tree_row(&t).live, 0);
	assert_int_equal(rows_of(k, t.id), 0);
	tree_wait(&t);
	tree_end(&t);
}

/* ---- exec by a thread that is not the leader ----------------------------------------------- */

static void *exec_sleep(void *arg)
{
	(void)arg;
	execl("/bin/sleep", "sleep", "60", NULL);
	_exit(121);
}

static int thread_execs_sleep(void *arg)
{
	(void)arg;
	spawn_thread(sleeper);
	spawn_thread(exec_sleep);
	return pause();
}

static int take_row(void *arg, const struct sbx_task *task)
{
	*(struct sbx_task *)arg = *task;
	return 0;
}

/* The thread takes over the leader's number and start; the others and the old leader are gone. */
static void the_row_follows_the_thread_that_execs(void **state)
{
	struct sbx_task row = { 0 };
	struct tree t;

	(void)state;
	tree_start(&t, k, &plain, thread_execs_sleep, NULL);
	while (!tree_row(&t).execs || tree_row(&t).live != 1)
		sleep_ms(1);
	assert_int_equal(rows_of(k, t.id), 1);
	assert_int_equal(kern_tasks_each(k, t.id, take_row, &row), 0);
	assert_int_equal(row.pid, t.root);
	assert_int_equal(row.tgid, t.root);
	assert_int_equal(row.start_ns, tree_row(&t).root_start_ns);
	assert_true(row.flags & SBX_TASK_PROCESS);
	assert_int_equal(tree_row(&t).live_processes, 1);
	assert_int_equal(kern_signal_tree(k, t.id, SIGKILL), 1);
	assert_int_equal(tree_wait(&t), SIGKILL);
	tree_end(&t);
}

static int teardown(void **state)
{
	(void)state;
	kern_close(k);
	return kern_unload(NULL);
}

static int setup(void **state)
{
	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	k = open_kern();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(receipt_equals_waitpid),
		cmocka_unit_test(every_thread_has_one_row),
		cmocka_unit_test(a_zombie_has_no_row),
		cmocka_unit_test(the_row_follows_the_thread_that_execs),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
