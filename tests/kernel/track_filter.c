/* SPDX-License-Identifier: Apache-2.0 */
/* The filter in front of the rows never hides one, counts them exactly, and decides nothing. */
#include "filter.h"

#define CHURN_MS 2000
#define FORKERS 3
#define ALL_FULL 1000

static struct kern *k;
static const struct kern_sandbox_opts plain = { .keeper_owns = true };

/* What the tree itself says it did. */
struct churn {
	uint64_t id, until_ns;
	_Atomic uint64_t processes, wrong_labels;
};

static uint64_t own_label(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	uint64_t label = 0;

	kern_label_of(k, pidfd, &label);
	close(pidfd);
	return label;
}

static void *a_thread(void *arg)
{
	return arg;
}

static int child(struct churn *c, unsigned int i)
{
	pthread_t t;

	c->wrong_labels += own_label() != c->id;
	if (i % 3 == 0)
		pthread_create(&t, NULL, a_thread, NULL);
	if (i % 7 == 0 && !fork()) {
		c->processes++;
		c->wrong_labels += own_label() != c->id;
	}
	return 0;
}

static int forker(struct churn *c)
{
	pid_t pid;

	for (unsigned int i = 0; clock_boot_ns() < c->until_ns; i++) {
		pid = fork();
		if (!pid)
			_exit(child(c, i));
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
		c->processes++;
	}
	return 0;
}

static int churns(void *arg)
{
	struct churn *c = arg;
	int status, bad = 0;

	c->processes++;
	for (int i = 0; i < FORKERS; i++)
		if (!fork()) {
			c->processes++;
			_exit(forker(c));
		}
	while (wait(&status) > 0)
		bad |= status;
	return bad;
}

/* A stranger is labelled and ends. */
static void adopt_one(struct churn *c)
{
	struct err err = { .text = "" };
	uint64_t label;
	pid_t pid = fork();
	int pidfd;

	if (!pid)
		_exit(pause());
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	OK(&err, kern_label_pidfd(k, pidfd, c->id, &err));
	assert_int_equal(kern_label_of(k, pidfd, &label), 0);
	assert_int_equal(label, c->id);
	c->processes++;
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(pidfd);
}

/* Rows come and go by every way there is, and user space walks and sweeps them meanwhile. */
static void no_row_is_missed_while_rows_come_and_go(void **state)
{
	struct churn *c = shared(sizeof(*c));
	struct err err = { .text = "" };
	struct tree t = { .k = k };
	unsigned int sweeps = 0;
	struct sbx_sandbox row;

	(void)state;
	c->id = t.id = kern_id_new();
	c->until_ns = clock_boot_ns() + CHURN_MS * 1000000ull;
	OK(&err, kern_sandbox_create(k, &plain, &t.id, &err));
	t.root = fork();
	if (!t.root)
		_exit(churns(c));
	t.pidfd = (int)syscall(SYS_pidfd_open, t.root, 0);
	for (; clock_boot_ns() < c->until_ns; sweeps++) {
		assert_true(kern_signal_tree(k, t.id, 0) >= 0);
		adopt_one(c);
	}
	assert_int_equal(tree_wait(&t), 0);
	row = tree_row(&t);
	print_message("%llu processes, %u sweeps\n", (unsigned long long)row.processes, sweeps);
	assert_int_equal(c->wrong_labels, 0);
	assert_int_equal(row.processes, c->processes);
	assert_int_equal(row.exits, c->processes);
	assert_int_equal(row.live_processes, 0);
	assert_int_equal(rows_of(k, t.id), 0);
	filter_is_exact(k);
	tree_end(&t);
}

static int waits(void *arg)
{
	(void)arg;
	return pause();
}

/* The row of a keeper outside every sandbox becomes that of a member: one row, counted once. */
static void a_row_that_is_replaced_counts_once(void **state)
{
	struct err err = { .text = "" };
	uint64_t *inner = shared(sizeof(*inner));
	struct tree t;
	pid_t keeper;
	int pidfd;

	(void)state;
	tree_start(&t, k, &plain, waits, NULL);
	keeper = fork();
	if (!keeper) {
		uint64_t id = 0;

		OK(&err, kern_sandbox_create(k, &(struct kern_sandbox_opts){ 0 }, &id, &err));
		*inner = id;
		_exit(pause());
	}
	while (!*(volatile uint64_t *)inner)
		sleep_ms(1);
	filter_is_exact(k);
	pidfd = (int)syscall(SYS_pidfd_open, keeper, 0);
	OK(&err, kern_label_pidfd(k, pidfd, t.id, &err));
	assert_int_equal(rows_of(k, t.id), 2);
	filter_is_exact(k);
	assert_int_equal(kern_signal_tree(k, t.id, SIGKILL), 2);
	tree_wait(&t);
	reap_all();
	filter_is_exact(k);
	kern_sandbox_delete(k, *inner);
	close(pidfd);
	tree_end(&t);
}

static int says_its_label(void *arg)
{
	*(uint64_t *)arg = own_label();
	return 0;
}

/* As if every slot had a row: a look-up decides, and strangers have none. */
static void full_slots_change_no_verdict(void **state)
{
	uint64_t *label = shared(sizeof(*label));
	struct sbx_sandbox row;
	struct tree t;
	pid_t pid;

	(void)state;
	for (__u32 slot = 0; slot < SBX_FILTER_SLOTS; slot++)
		filter_raise(k, slot, ALL_FULL);
	tree_start(&t, k, &plain, says_its_label, label);
	assert_int_equal(tree_wait(&t), 0);
	assert_int_equal(*label, t.id);
	pid = fork();
	if (!pid)
		_exit(says_its_label(label));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(*label, 0);
	row = tree_row(&t);
	assert_int_equal(row.processes, 1);
	assert_int_equal(row.exits, 1);
	for (__u32 slot = 0; slot < SBX_FILTER_SLOTS; slot++)
		filter_raise(k, slot, -ALL_FULL);
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
		cmocka_unit_test(no_row_is_missed_while_rows_come_and_go),
		cmocka_unit_test(a_row_that_is_replaced_counts_once),
		cmocka_unit_test(full_slots_change_no_verdict),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
