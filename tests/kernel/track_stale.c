/* SPDX-License-Identifier: Apache-2.0 */
/* A row whose task is gone harms nobody: not a stranger at the same address, not the counts. */
#include "filter.h"

#define PLANTED 32
#define TRIES 4000

static struct kern *k;
static const struct kern_sandbox_opts plain = { .keeper_owns = true };

struct planted {
	__u64 keys[PLANTED];
	unsigned int count;
};

/* Copies the complete rows of a live sandbox: an embryo's, on tier A, would be anybody's. */
static unsigned int copy_rows(uint64_t id, __u64 *keys, struct sbx_task *rows)
{
	int fd = half_fd(k, HALF_TASKS);
	struct sbx_task row;
	unsigned int n = 0;
	__u64 key, *at = NULL;

	for (; n < PLANTED && !bpf_map_get_next_key(fd, at, &key); at = &key)
		if (!bpf_map_lookup_elem(fd, &key, &row) && row.sandbox == id &&
		    !(row.flags & SBX_TASK_EMBRYO)) {
			keys[n] = key;
			rows[n++] = row;
		}
	return n;
}

static int parent_of_sleepers(void *arg)
{
	(void)arg;
	for (int i = 0; i < PLANTED - 1; i++)
		if (!fork())
			return pause();
	return pause();
}

/* Rows come back after their tasks have died, as if every delete had failed. */
static void plant(struct tree *t, struct planted *p)
{
	struct sbx_task rows[PLANTED];

	p->count = 0;
	tree_start(t, k, &plain, parent_of_sleepers, NULL);
	tree_wait_live(t, PLANTED);
	for (int i = 0; i < 1000 && p->count < PLANTED; i++, sleep_ms(10))
		p->count = copy_rows(t->id, p->keys, rows);
	assert_int_equal(p->count, PLANTED);
	assert_int_equal(kern_signal_tree(k, t->id, SIGKILL), PLANTED);
	tree_wait(t);
	while (waitpid(-1, NULL, 0) > 0)
		;
	sleep_ms(500); /* until the kernel has freed them, too */
	for (unsigned int i = 0; i < PLANTED; i++)
		row_plant(k, p->keys[i], &rows[i]);
	assert_int_equal(rows_of(k, t->id), PLANTED);
}

static int says_its_label(void *arg)
{
	uint64_t *label = arg;
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	return kern_label_of(k, pidfd, label);
}

/* Strangers are born where members died. */
static void a_stranger_at_the_address_is_no_member(void **state)
{
	uint64_t *label = shared(sizeof(*label));
	struct planted p;
	struct tree t;
	unsigned int left = PLANTED, i;

	(void)state;
	plant(&t, &p);
	for (i = 0; i < TRIES && left == PLANTED; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(says_its_label(label));
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		assert_int_equal(*label, 0);
		left = rows_of(k, t.id);
	}
	print_message("%u of %d stale rows removed after %u forks\n", PLANTED - left, PLANTED, i);
	assert_true(left < PLANTED);
	assert_int_equal(kern_signal_tree(k, t.id, SIGKILL),
			 0); /* no pid is taken from a stale row */
	for (i = 0; i < PLANTED; i++)
		row_pull(k, p.keys[i]);
	tree_end(&t);
}

static int many_children(void *arg)
{
	for (unsigned int i = 0; i < *(unsigned int *)arg; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/* Members of another sandbox are born there: they are theirs, and counted as theirs. */
static void a_member_of_another_sandbox_takes_the_place(void **state)
{
	unsigned int children = 300;
	struct planted p;
	struct tree old, new;
	struct sbx_sandbox row;

	(void)state;
	plant(&old, &p);
	tree_start(&new, k, &plain, many_children, &children);
	tree_wait(&new);
	row = tree_row(&new);
	assert_int_equal(row.processes, children + 1);
	assert_int_equal(row.exits, children + 1);
	assert_int_equal(row.live, 0);
	assert_int_equal(row.live_processes, 0);
	assert_true(rows_of(k, old.id) < PLANTED);
	for (unsigned int i = 0; i < PLANTED; i++)
		row_pull(k, p.keys[i]);
	tree_end(&new);
	tree_end(&old);
}

/* What ended unseen is counted when its row is found. */
static void a_missed_end_is_counted_when_the_row_is_found(void **state)
{
	struct sbx_sandbox row;
	struct planted p;
	struct tree t;
	unsigned int left = PLANTED;

	(void)state;
	if (kern_facts(k)->hook_copies > 1) {
		print_message("these ends were counted, and where ends may be missed that is "
			      "remembered\n");
		skip();
	}
	plant(&t, &p);
	row = tree_row(&t);
	row.live = row.live_processes = PLANTED;
	row.exits = 0;
	assert_int_equal(bpf_map_update_elem(half_fd(k, HALF_SANDBOXES), &t.id, &row, BPF_EXIST),
			 0);
	for (unsigned int i = 0; i < TRIES && left == PLANTED; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		left = rows_of(k, t.id);
	}
	row = tree_row(&t);
	assert_true(left < PLANTED);
	assert_int_equal(row.live, left);
	assert_int_equal(row.live_processes, left);
	assert_int_equal(row.exits, PLANTED - left);
	for (unsigned int i = 0; i < PLANTED; i++)
		row_pull(k, p.keys[i]);
	tree_end(&t);
}

/* ---- a full table refuses ------------------------------------------------------------------- */

static void fill(unsigned int leave)
{
	const struct sbx_task row = { .start_ns = 1, .tgid = ~0u, .flags = SBX_TASK_KEEPER };
	int fd = half_fd(k, HALF_TASKS);
	__u64 key;

	for (unsigned int i = leave; i < SBX_MAX_TASKS; i++) {
		key = 1 + i; /* no task_struct is there */
		if (bpf_map_update_elem(fd, &key, &row, BPF_NOEXIST))
			break;
	}
}

static void empty(void)
{
	int fd = half_fd(k, HALF_TASKS);

	for (__u64 key = 1; key <= SBX_MAX_TASKS; key++)
		bpf_map_delete_elem(fd, &key);
}

static int forks_until_refused(void *arg)
{
	unsigned int *made = arg;
	pid_t pid;

	for (*made = 0; *made < 64; ++*made) {
		pid = fork();
		if (!pid)
			return pause();
		if (pid < 0)
			return errno;
	}
	return 0;
}

static void no_row_no_child(void **state)
{
	unsigned int *made = shared(sizeof(*made));
	struct err err = { .text = "" };
	struct sbx_sandbox row;
	uint64_t id = 0;
	struct tree t;
	int status;

	(void)state;
	fill(16);
	tree_start(&t, k, &plain, forks_until_refused, made);
	assert_int_equal(waitpid(t.root, &status, 0), t.root);
	row = tree_row(&t);
	assert_true(row.live <= 16);
	assert_int_equal(rows_of(k, t.id), row.live);
	if (kern_facts(k)->lsm) {
		assert_int_equal(WEXITSTATUS(status), EAGAIN);
		assert_in_range(*made, 8, 16);
	} else {
		assert_true(row.flags & SBX_TASKS_HIT);
		assert_true(row.flags & SBX_DYING);
	}
	kern_signal_tree(k, t.id, SIGKILL);
	tree_wait_live(&t, 0);
	fill(0);
	assert_int_equal(kern_sandbox_create(k, &plain, &id, &err),
			 0); /* the keeper's row is there */
	kern_sandbox_delete(k, id);
	empty();
	reap_all();
	filter_is_exact(k);
	tree_end(&t);
}

static int setup(void **state)
{
	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	k = open_kern();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kern_close(k);
	return kern_unload(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stranger_at_the_address_is_no_member),
		cmocka_unit_test(a_member_of_another_sandbox_takes_the_place),
		cmocka_unit_test(a_missed_end_is_counted_when_the_row_is_found),
		cmocka_unit_test(no_row_no_child),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
