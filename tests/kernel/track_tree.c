/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel half knows the tree: labels, bounds, those who left the group, sandboxes inside
 * sandboxes. */
#include "keeper.h"

static struct kern *k;
static const struct kern_sandbox_opts plain = { .keeper_owns = true };

static void *sleeper(void *arg)
{
	(void)arg;
	pause(); /* no handler: only death ends it */
	return NULL;
}

static void spawn_thread(void *(*fn)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, NULL))
		_exit(120);
}

static int wait_for_go(void *arg)
{
	char byte;

	return read(*(int *)arg, &byte, 1) != 1;
}

/* ---- seed and label ------------------------------------------------------------------------- */

static void only_the_next_child_is_labelled(void **state)
{
	uint64_t label = 1;
	struct tree t;
	int pipe_fds[2], pidfd;
	pid_t second;

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	tree_start(&t, k, &plain, wait_for_go, &pipe_fds[0]);
	second = fork();
	if (!second)
		_exit(wait_for_go(&pipe_fds[0]));
	pidfd = (int)syscall(SYS_pidfd_open, second, 0);
	assert_int_equal(kern_label_of(k, t.pidfd, &label), 0);
	assert_int_equal(label, t.id);
	assert_int_equal(kern_label_of(k, pidfd, &label), 0);
	assert_int_equal(label, 0);
	assert_int_equal(write(pipe_fds[1], "xx", 2), 2);
	tree_wait(&t);
	waitpid(second, NULL, 0);
	close(pidfd);
	tree_end(&t);
}

static void a_root_without_label_is_not_released(void **state)
{
	struct err err = { .text = "" };
	uint64_t id = 0, other = 0;
	pid_t child;
	int pidfd;

	(void)state;
	OK(&err, kern_sandbox_create(k, &plain, &other, &err));
	child = fork();
	if (!child)
		sleeper(NULL);
	pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	OK(&err, kern_sandbox_verify_root(k, other, child, pidfd, &err));
	OK(&err, kern_sandbox_create(k, &plain, &id, &err));
	assert_int_equal(kern_sandbox_verify_root(k, id, child, pidfd, &err), -EPROTO);
	assert_non_null(strstr(err.text, "another sandbox"));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(pidfd);
	kern_sandbox_delete(k, id);
	kern_sandbox_delete(k, other);
}

static int threads_then_go(void *arg)
{
	for (int i = 0; i < 5; i++)
		spawn_thread(sleeper);
	return wait_for_go(arg);
}

static void every_thread_of_a_process_is_labelled(void **state)
{
	struct err err = { .text = "" };
	struct sbx_sandbox row;
	int pipe_fds[2], pidfd;
	uint64_t id = 0, label;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	child = fork();
	if (!child)
		_exit(threads_then_go(&pipe_fds[0]));
	pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	sleep_ms(100);
	OK(&err, kern_sandbox_create(k, &plain, &id, &err));
	OK(&err, kern_label_pidfd(k, pidfd, id, &err));
	OK(&err, kern_label_pidfd(k, pidfd, id, &err));
	assert_int_equal(kern_label_of(k, pidfd, &label), 0);
	assert_int_equal(label, id);
	assert_int_equal(rows_of(k, id), 6);
	assert_int_equal(kern_sandbox_read(k, id, &row), 0);
	assert_int_equal(row.live, 6);
	assert_int_equal(row.processes, 1);
	assert_int_equal(row.root_pid, child);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	waitpid(child, NULL, 0);
	assert_int_equal(kern_sandbox_read(k, id, &row), 0);
	assert_int_equal(row.live, 0);
	assert_int_equal(row.live_processes, 0);
	assert_true(row.flags & SBX_ROOT_EXITED);
	close(pidfd);
	kern_sandbox_delete(k, id);
}

/* ---- bounds --------------------------------------------------------------------------------- */

static int execs_five(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5; i++) {
		pid_t pid = fork();

		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}

static void execs_are_counted_and_bounded(void **state)
{
	const struct kern_sandbox_opts four = { .keeper_owns = true, .max_execs = 4 };
	const struct kern_sandbox_opts five = { .keeper_owns = true, .max_execs = 5 };
	struct tree t;

	(void)state;
	tree_start(&t, k, &five, execs_five, NULL);
	tree_wait(&t);
	assert_int_equal(tree_row(&t).execs, 5);
	assert_int_equal(tree_row(&t).flags & (SBX_EXECS_HIT | SBX_DYING), 0);
	tree_end(&t);

	tree_start(&t, k, &four, execs_five, NULL);
	tree_wait(&t);
	assert_int_equal(tree_row(&t).flags & (SBX_EXECS_HIT | SBX_DYING),
			 SBX_EXECS_HIT | SBX_DYING);
	assert_in_range(tree_row(&t).execs, 4, 5);
	tree_end(&t);
}

static int nests(void *arg)
{
	int depth = *(int *)arg;

	while (depth--) {
		pid_t pid = fork();
		int status;

		if (pid < 0)
			return errno;
		if (pid)
			return waitpid(pid, &status, 0) == pid && WIFEXITED(status)
				       ? WEXITSTATUS(status)
				       : 99;
	}
	return 0;
}

static void depth_is_bounded(void **state)
{
	const struct kern_sandbox_opts three = { .keeper_owns = true, .max_depth = 3 };
	int depth = 3, status;
	struct tree t;

	(void)state;
	tree_start(&t, k, &three, nests, &depth);
	assert_int_equal(tree_wait(&t), 0);
	assert_int_equal(tree_row(&t).flags & (SBX_DEPTH_HIT | SBX_DYING), 0);
	tree_end(&t);

	depth = 4;
	tree_start(&t, k, &three, nests, &depth);
	status = tree_wait(&t);
	assert_int_equal(tree_row(&t).flags & (SBX_DEPTH_HIT | SBX_DYING),
			 SBX_DEPTH_HIT | SBX_DYING);
	if (kern_facts(k)->lsm)
		assert_int_equal(WEXITSTATUS(status), EAGAIN);
	tree_end(&t);
}

static int forks_when_told(void *arg)
{
	int *fds = arg;
	char byte;
	pid_t pid;

	if (read(fds[0], &byte, 1) != 1)
		return 1;
	pid = fork();
	if (!pid)
		sleeper(NULL);
	return pid < 0 ? errno : 0;
}

static void forks_of_a_dying_sandbox_come_to_nothing(void **state)
{
	int pipe_fds[2], status;
	struct tree t;

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	tree_start(&t, k, &plain, forks_when_told, pipe_fds);
	assert_int_equal(kern_sandbox_set_dying(k, t.id), 0);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	assert_int_equal(waitpid(t.root, &status, 0), t.root);
	if (kern_facts(k)->lsm)
		assert_int_equal(WEXITSTATUS(status), EAGAIN);
	else if (!kern_facts(k)->exit_hook_kills) /* nor a kfunc to kill a newborn with */
		assert_int_equal(kern_signal_tree(k, t.id, SIGKILL), 1);
	tree_wait_live(&t, 0);
	tree_end(&t);
}

/* ---- the group ------------------------------------------------------------------------------ */

static void who_ends_outside_the_group_is_counted(void **state)
{
	/* No group has this id: everyone is outside. */
	const struct kern_sandbox_opts group = { .keeper_owns = true,
						 .cgroup_id = 1ull << 40,
						 .cgroup_level = 1 };
	struct tree t;

	(void)state;
	tree_start(&t, k, &group, execs_five, NULL);
	tree_wait(&t);
	assert_int_equal(tree_row(&t).escapes, 6);
	tree_end(&t);

	tree_start(&t, k, &plain, execs_five, NULL);
	tree_wait(&t);
	assert_int_equal(tree_row(&t).escapes, 0);
	tree_end(&t);
}

/* ---- nesting -------------------------------------------------------------------------------- */

struct inner {
	uint64_t id;
	int rc;
};

static int keeps_a_sandbox(void *arg)
{
	struct inner *inner = arg;
	struct err err = { .text = "" };
	struct tree t = { .k = k };

	inner->rc = kern_sandbox_create(k, &plain, &t.id, &err);
	if (inner->rc)
		return 1;
	inner->id = t.id;
	t.root = fork();
	if (!t.root)
		_exit(execs_five(NULL));
	waitpid(t.root, NULL, 0);
	return 0;
}

static void a_sandbox_inside_counts_outside_too(void **state)
{
	struct inner *inner = shared(sizeof(*inner));
	struct sbx_sandbox row;
	struct tree t;

	(void)state;
	inner->rc = -1;
	tree_start(&t, k, &plain, keeps_a_sandbox, inner);
	tree_wait(&t);
	assert_int_equal(inner->rc, 0);
	assert_int_equal(kern_sandbox_read(k, inner->id, &row), 0);
	assert_int_equal(row.parent, t.id);
	assert_int_equal(row.nest, 1);
	assert_int_equal(row.processes, 6);
	assert_int_equal(row.execs, 5);
	assert_int_equal(row.live, 0);
	assert_int_equal(tree_row(&t).processes, 7);
	assert_int_equal(tree_row(&t).execs, 5);
	assert_int_equal(tree_row(&t).exits, 7);
	kern_sandbox_delete(k, inner->id);
	tree_end(&t);
}

struct nest {
	int level, deepest, error;
};

static int nests_sandboxes(void *arg)
{
	struct nest *n = arg;
	struct err err = { .text = "" };
	uint64_t id = 0;
	pid_t pid;
	int rc = kern_sandbox_create(k, &plain, &id, &err);

	if (rc) {
		n->error = rc;
		return 0;
	}
	n->deepest = ++n->level;
	pid = fork();
	if (!pid)
		_exit(nests_sandboxes(n));
	waitpid(pid, NULL, 0);
	return kern_sandbox_delete(k, id);
}

static void nesting_is_bounded(void **state)
{
	struct nest *n = shared(sizeof(*n));
	struct tree t;

	(void)state;
	tree_start(&t, k, &plain, nests_sandboxes, n);
	assert_int_equal(tree_wait(&t), 0);
	assert_int_equal(n->deepest, SBX_MAX_NEST - 1);
	assert_int_equal(n->error, -ELOOP);
	tree_end(&t);
}

/* ---- ids ------------------------------------------------------------------------------------ */

static void a_given_id_is_taken_once(void **state)
{
	struct err err = { .text = "" };
	uint64_t id = kern_id_new(), again = id, ids[64];
	size_t count = 64, found = 0;

	(void)state;
	OK(&err, kern_sandbox_create(k, &plain, &id, &err));
	assert_int_equal(id, again);
	assert_int_equal(kern_sandbox_create(k, &plain, &again, &err), -EEXIST);
	assert_int_equal(kern_sandbox_list(k, ids, &count), 0);
	for (size_t i = 0; i < count; i++)
		found += ids[i] == id;
	assert_int_equal(found, 1);
	assert_int_equal(kern_sandbox_delete(k, id), 0);
	assert_int_equal(kern_sandbox_delete(k, id), 0);
	assert_int_equal(kern_sandbox_read(k, id, &(struct sbx_sandbox){ 0 }), -ENOENT);
	assert_int_equal(kern_sandbox_set_dying(k, id), -ENOENT);
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
		cmocka_unit_test(only_the_next_child_is_labelled),
		cmocka_unit_test(a_root_without_label_is_not_released),
		cmocka_unit_test(every_thread_of_a_process_is_labelled),
		cmocka_unit_test(execs_are_counted_and_bounded),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(forks_of_a_dying_sandbox_come_to_nothing),
		cmocka_unit_test(who_ends_outside_the_group_is_counted),
		cmocka_unit_test(a_sandbox_inside_counts_outside_too),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(a_given_id_is_taken_once),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
