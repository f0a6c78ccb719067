/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 150 */
/* 200,000 forks, with threads and with execs from threads that are not the leader: counts
 * exact, no stale row. */
#include "filter.h"

#include <linux/sched.h>

#define FORKS 200000
#define WORKERS 4
#define STORM_S 40 /* an emulated machine stops there, however far it came */

/* What the tree itself says it did. */
struct truth {
	_Atomic uint64_t processes, execs, wrong_labels;
};

struct storm {
	struct kern *k;
	uint64_t id;
	struct truth *truth;
	unsigned int forks;
	uint64_t until_ns;
};

static void *nothing(void *arg)
{
	return arg;
}

static void *execs(void *arg)
{
	(void)arg;
	execl("/bin/true", "true", NULL);
	_exit(120);
}

static void check_label(const struct storm *s)
{
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	uint64_t label = 0;

	if (kern_label_of(s->k, pidfd, &label) || label != s->id)
		s->truth->wrong_labels++;
	close(pidfd);
}

static int child(const struct storm *s, unsigned int i)
{
	pthread_t t;

	if (i % 97 == 0 && !fork()) {
		s->truth->processes++;
		_exit(0);
	}
	if (i % 40 == 0)
		for (int n = 0; n < 3; n++)
			if (pthread_create(&t, NULL, nothing, NULL))
				return 1;
	if (i % 500 == 0)
		check_label(s);
	if (i % 200 == 0) {
		s->truth->execs++;
		if (pthread_create(&t, NULL, execs, NULL))
			return 1;
		return pause();
	}
	return 0;
}

static int worker(const struct storm *s)
{
	pthread_t t;
	pid_t pid;

	for (unsigned int i = 0; i < s->forks / WORKERS; i++) {
		if (clock_boot_ns() > s->until_ns)
			return 0;

		pid = fork();
		if (pid < 0)
			return 1;
		if (!pid)
			_exit(child(s, i));
		s->truth->processes++;
		if (i % 50 == 0 && !pthread_create(&t, NULL, nothing, NULL))
			pthread_join(t, NULL);
		if (waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}

static int storms(void *arg)
{
	const struct storm *s = arg;
	int status, bad = 0;

	s->truth->processes++;
	for (int w = 0; w < WORKERS; w++)
		if (!fork()) {
			s->truth->processes++;
			_exit(worker(s));
		}
	while (wait(&status) > 0)
		bad |= status;
	return bad;
}

static struct sbx_stats stats(struct kern *k)
{
	struct sbx_stats s;
	__u32 zero = 0;

	assert_int_equal(bpf_map_lookup_elem(half_fd(k, HALF_STATS), &zero, &s), 0);
	return s;
}

static void storm(unsigned int forks)
{
	const struct kern_sandbox_opts opts = { .keeper_owns = true };
	struct storm *s = shared(sizeof(*s));
	struct kern *k = open_kern();
	struct err err = { .text = "" };
	struct tree t = { .k = k };
	struct sbx_sandbox row;
	struct sbx_stats bad;
	uint64_t begin = clock_boot_ns();

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* The id is made first: the children look for it. */
	*s = (struct storm){ k, kern_id_new(), shared(sizeof(*s->truth)), forks,
			     begin + STORM_S * 1000000000ull };
	t.id = s->id;
	OK(&err, kern_sandbox_create(k, &opts, &t.id, &err));
	t.root = fork();
	if (!t.root)
		_exit(storms(s));
	assert_int_equal(tree_wait(&t), 0);
	reap_all();

	row = tree_row(&t);
	bad = stats(k);
	print_message("%llu processes, %llu execs, at most %llu threads, %.1f s; %u copies of a "
		      "hook, %llu ends missed\n",
		      (unsigned long long)row.processes, (unsigned long long)row.execs,
		      (unsigned long long)row.live_peak, (double)(clock_boot_ns() - begin) / 1e9,
		      kern_facts(k)->hook_copies, (unsigned long long)bad.stale);
	assert_int_equal(row.processes, s->truth->processes);
	assert_int_equal(row.exits, s->truth->processes);
	assert_int_equal(row.execs, s->truth->execs);
	assert_int_equal(s->truth->wrong_labels, 0);
	assert_int_equal(row.live, 0);
	assert_int_equal(row.live_processes, 0);
	assert_int_equal(row.flags & (SBX_DYING | SBX_TASKS_HIT), 0);
	assert_int_equal(rows_of(k, 0), 0);
	filter_is_exact(k);
	assert_int_equal(bad.insert_failed + bad.delete_failed, 0);
	if (kern_facts(k)->hook_copies == 1)
		assert_int_equal(bad.stale, 0);
	kern_sandbox_delete(k, t.id);
	kern_close(k);
	assert_int_equal(kern_unload(NULL), 0);
}

static void a_storm_is_counted_exactly(void **state)
{
	(void)state;
	storm(FORKS);
}

/* As on kernels that skip tracepoint programs: no copy does again what another has done. */
static void copies_of_the_hooks_count_once(void **state)
{
	(void)state;
	setenv("SBX_DEGRADE", "copies", 1);
	storm(FORKS / 20);
	unsetenv("SBX_DEGRADE");
}

/* As on hosts that refuse BPF LSM programs. */
static void without_lsm_a_storm_is_counted_as_well(void **state)
{
	struct kern *k = open_kern();
	bool lsm = kern_facts(k)->lsm;

	(void)state;
	kern_close(k);
	assert_int_equal(kern_unload(NULL), 0);
	if (!lsm) {
		print_message("this host is one\n");
		skip();
	}
	setenv("SBX_DEGRADE", "lsm", 1);
	storm(FORKS / 20);
	unsetenv("SBX_DEGRADE");
}

#define AGAIN 400

/* One process number for one short life after the other; its signal_struct is often at the same address, too. */
static int lives_again(void *arg)
{
	pid_t number = fork(), pid;
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uintptr_t)&number,
				   .set_tid_size = 1 };

	(void)arg;
	if (!number)
		_exit(0);
	for (int i = 0; i < AGAIN; i++) {
		if (waitpid(number, NULL, 0) != number)
			return 1;
		sleep_ms(1); /* the task is freed after an RCU grace period */
		pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
		if (!pid)
			_exit(0);
		if (pid != number)
			return 2;
	}
	return waitpid(number, NULL, 0) != number;
}

/* Where an end is claimed by a token, the token must not outlive the process. */
static void a_number_that_lives_again_ends_again(void **state)
{
	const struct kern_sandbox_opts opts = { .keeper_owns = true };
	struct sbx_sandbox row;
	struct kern *k;
	struct tree t;

	(void)state;
	setenv("SBX_DEGRADE", "copies", 1);
	k = open_kern();
	tree_start(&t, k, &opts, lives_again, NULL);
	assert_int_equal(tree_wait(&t), 0);
	row = tree_row(&t);
	assert_int_equal(row.processes, AGAIN + 2);
	assert_int_equal(row.exits, row.processes);
	assert_int_equal(row.live_processes, 0);
	tree_end(&t);
	kern_close(k);
	assert_int_equal(kern_unload(NULL), 0);
	unsetenv("SBX_DEGRADE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_that_lives_again_ends_again),
		cmocka_unit_test(a_storm_is_counted_exactly),
		cmocka_unit_test(copies_of_the_hooks_count_once),
		cmocka_unit_test(without_lsm_a_storm_is_counted_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
