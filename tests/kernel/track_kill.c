/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 120 */
/* Exactly the tree dies when its keeper or owner does: by the exit hook, by the watcher where
 * that cannot. */
#include "keeper.h"

#include <poll.h>
#include <sys/utsname.h>

#include "kern/watcher.h"

#define KILL_MS 3000 /* a virtual machine is slow; what is measured is printed */

static struct kern *k;

static int sleeps(void *arg)
{
	(void)arg;
	return pause();
}

static void *sleeper(void *arg)
{
	(void)arg;
	pause();
	return NULL;
}

/* A process whose leader is gone: it has no row but that of another thread. */
static int leaderless(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, sleeper, NULL))
		return 1;
	syscall(SYS_exit, 0);
	return 0;
}

struct shape {
	unsigned int width;
	_Atomic unsigned int *ready;
};

/* `width` processes in sessions of their own, reparented, and one without a leader. */
static int scatters(void *arg)
{
	const struct shape *s = arg;

	for (unsigned int i = 0; i < s->width; i++) {
		pid_t pid = fork();

		if (pid > 0) {
			waitpid(pid, NULL, 0);
			continue;
		}
		if (fork())
			_exit(0);
		setsid();
		++*s->ready;
		_exit(i ? sleeps(NULL) : leaderless());
	}
	++*s->ready;
	return pause();
}

static void wait_ready(const struct shape *s)
{
	for (int i = 0; i < WAIT_MS && *s->ready <= s->width; i++)
		sleep_ms(1);
	MUST(*s->ready == s->width + 1);
}

/* ---- a keeper in a process of its own ------------------------------------------------------- */

struct keeping {
	struct kern_sandbox_opts opts;
	struct shape shape;
	bool watcher;
	uint64_t deadline_ns;
	uint64_t *id; /* shared */
};

static int keep(const struct keeping *job)
{
	struct kern *mine = open_kern();
	struct err err = { .text = "" };
	struct watcher w;
	struct watcher_opts wo = { .owner_fd = -1,
				   .owner_events = POLLIN,
				   .timer_fd = clock_timer_new() };
	struct tree t;

	clock_timer_set(wo.timer_fd, job->deadline_ns);
	if (job->opts.owner_tgid)
		wo.owner_fd = (int)syscall(SYS_pidfd_open, job->opts.owner_tgid, 0);
	tree_start(&t, mine, &job->opts, scatters, (void *)&job->shape);
	wo.id = t.id;
	if (job->watcher)
		OK(&err, watcher_start(&w, mine, &wo, &err));
	wait_ready(&job->shape);
	__atomic_store_n(job->id, t.id, __ATOMIC_SEQ_CST);
	return pause();
}

struct kept {
	pid_t keeper;
	struct tree tree;
};

static struct kept start_keeper(struct keeping *job)
{
	struct kept kept = { .tree = { .k = k } };

	job->id = shared(sizeof(*job->id));
	job->shape.ready = shared(sizeof(*job->shape.ready));
	kept.keeper = fork();
	if (!kept.keeper)
		_exit(keep(job));
	for (int i = 0; i < WAIT_MS && !__atomic_load_n(job->id, __ATOMIC_SEQ_CST); i++)
		sleep_ms(1);
	kept.tree.id = *job->id;
	assert_true(kept.tree.id);
	return kept;
}

static void end_keeper(struct kept *kept)
{
	kill(kept->keeper, SIGKILL);
	waitpid(kept->keeper, NULL, 0);
	reap_all();
	assert_int_equal(rows_of(k, kept->tree.id), 0);
	kern_sandbox_delete(k, kept->tree.id);
}

static void skip_without_kill(void)
{
	struct utsname u;
	unsigned int major, minor;

	if (kern_facts(k)->exit_hook_kills)
		return;
	assert_int_equal(uname(&u), 0);
	assert_int_equal(sscanf(u.release, "%u.%u", &major, &minor), 2);
	if (major > 6 || (major == 6 && minor >= 16))
		fail_msg("Linux %s can: %s", u.release, kern_facts(k)->exit_hook_detail);
	print_message("%s\n", kern_facts(k)->exit_hook_detail);
	skip();
}

/* Kills it; how long its tree outlives that, in ms. */
static uint64_t kill_and_wait(pid_t pid, const struct tree *t)
{
	uint64_t begin = clock_boot_ns();

	kill(pid, SIGKILL);
	tree_wait_live(t, 0);
	return (clock_boot_ns() - begin) / 1000000;
}

static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(sleeps(NULL));
	return pid;
}

static bool alive(pid_t pid)
{
	return !waitpid(pid, NULL, WNOHANG);
}

/* ---- the exit hook -------------------------------------------------------------------------- */

static void a_killed_keeper_takes_its_tree_along(void **state)
{
	const unsigned int widths[] = { 3, 100 };

	(void)state;
	skip_without_kill();
	for (int i = 0; i < 2; i++) {
		struct keeping job = { .opts = { .keeper_owns = true },
				       .shape = { .width = widths[i] } };
		pid_t bystander = start_sleeper();
		struct kept kept = start_keeper(&job);
		uint64_t ms;

		assert_int_equal(tree_row(&kept.tree).live_processes, widths[i] + 1);
		ms = kill_and_wait(kept.keeper, &kept.tree);
		print_message("%u processes gone after %llu ms\n", widths[i] + 1,
			      (unsigned long long)ms);
		assert_in_range(ms, 0, KILL_MS);
		assert_int_equal(tree_row(&kept.tree).flags &
					 (SBX_OWNER_DIED | SBX_DYING | SBX_KILLING),
				 SBX_OWNER_DIED | SBX_DYING | SBX_KILLING);
		assert_in_range(tree_row(&kept.tree).killed, widths[i] + 1, 2 * widths[i] + 2);
		assert_int_equal(tree_row(&kept.tree).root_status, SIGKILL);
		assert_true(alive(bystander));
		kill(bystander, SIGKILL);
		waitpid(bystander, NULL, 0);
		end_keeper(&kept);
	}
}

/* More than one pass can send in its time; fewer do on a machine that takes long for each fork. */
static unsigned int several_passes(void)
{
	uint64_t begin = clock_boot_ns();
	pid_t pid = start_sleeper();

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return clock_boot_ns() - begin > 8000000 ? 2 * SBX_KILL_PASS_MIN : 1500;
}

static void passes_follow_each_other_without_user_space(void **state)
{
	struct keeping job = { .opts = { .keeper_owns = true } };
	struct kept kept;
	uint64_t ms;

	(void)state;
	skip_without_kill();
	job.shape.width = several_passes();
	kept = start_keeper(&job);
	ms = kill_and_wait(kept.keeper, &kept.tree);
	print_message("%u processes gone after %llu ms\n", job.shape.width + 1,
		      (unsigned long long)ms);
	assert_true(tree_row(&kept.tree).killed > job.shape.width);
	end_keeper(&kept);
}

static void a_dead_owner_takes_the_tree_along_and_leaves_the_keeper(void **state)
{
	struct keeping job = { .opts = { .keeper_owns = true }, .shape = { .width = 10 } };
	struct kept kept;
	pid_t owner;

	(void)state;
	skip_without_kill();
	owner = start_sleeper();
	job.opts.owner_tgid = (uint32_t)owner;
	kept = start_keeper(&job);
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	tree_wait_live(&kept.tree, 0);
	assert_true(tree_row(&kept.tree).flags & SBX_OWNER_DIED);
	assert_true(alive(kept.keeper));
	end_keeper(&kept);
}

static void *dies_alone(void *arg)
{
	(void)arg;
	syscall(SYS_exit, 0);
	return NULL;
}

static int lives_on_without_leader(void *arg)
{
	pthread_t t;

	(void)arg;
	if (pthread_create(&t, NULL, dies_alone, NULL) || pthread_create(&t, NULL, sleeper, NULL))
		return 1;
	syscall(SYS_exit, 0);
	return 0;
}

/* The owner is a process: what its threads do is its own business. */
static void a_thread_of_the_owner_may_end(void **state)
{
	struct keeping job = { .opts = { .keeper_owns = true }, .shape = { .width = 3 } };
	struct kept kept;
	pid_t owner;

	(void)state;
	skip_without_kill();
	owner = fork();
	if (!owner) {
		sleep_ms(300);
		_exit(lives_on_without_leader(NULL));
	}
	job.opts.owner_tgid = (uint32_t)owner;
	kept = start_keeper(&job);
	sleep_ms(600);
	assert_int_equal(tree_row(&kept.tree).live_processes, 4);
	assert_int_equal(tree_row(&kept.tree).flags & SBX_DYING, 0);
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	tree_wait_live(&kept.tree, 0);
	end_keeper(&kept);
}

/* An attached tree outlives its keeper. */
static void a_keeper_that_owns_nothing_kills_nothing(void **state)
{
	struct keeping job = { .shape = { .width = 3 } };
	struct kept kept = start_keeper(&job);

	(void)state;
	kill(kept.keeper, SIGKILL);
	waitpid(kept.keeper, NULL, 0);
	sleep_ms(200);
	assert_int_equal(tree_row(&kept.tree).live_processes, 4);
	assert_int_equal(tree_row(&kept.tree).flags & SBX_DYING, 0);
	assert_int_equal(kern_signal_tree(k, kept.tree.id, SIGKILL), 4);
	tree_wait_live(&kept.tree, 0);
	end_keeper(&kept);
}

static int keeps_inside(void *arg)
{
	return keep(arg);
}

static void what_is_inside_dies_with_what_is_around(void **state)
{
	struct keeping inner = { .opts = { .keeper_owns = true }, .shape = { .width = 5 } };
	const struct kern_sandbox_opts opts = { .keeper_owns = true };
	uint64_t *outer = shared(sizeof(*outer));
	struct tree out = { .k = k }, in = { .k = k };
	pid_t keeper;

	(void)state;
	skip_without_kill();
	inner.id = shared(sizeof(*inner.id));
	inner.shape.ready = shared(sizeof(*inner.shape.ready));
	keeper = fork();
	if (!keeper) {
		struct tree t;

		tree_start(&t, open_kern(), &opts, keeps_inside, &inner);
		*outer = t.id;
		_exit(pause());
	}
	for (int i = 0; i < WAIT_MS && !(*outer && *(volatile uint64_t *)inner.id); i++)
		sleep_ms(1);
	out.id = *outer;
	in.id = *inner.id;
	assert_int_equal(tree_row(&in).live_processes, 6);
	assert_int_equal(tree_row(&out).live_processes, 7);
	kill(keeper, SIGKILL);
	waitpid(keeper, NULL, 0);
	tree_wait_live(&out, 0);
	assert_int_equal(tree_row(&in).live, 0);
	assert_true(tree_row(&in).flags & SBX_ANCESTOR_DIED);
	reap_all();
	kern_sandbox_delete(k, in.id);
	kern_sandbox_delete(k, out.id);
}

static int forks_for_ever(void *arg)
{
	(void)arg;
	signal(SIGCHLD, SIG_IGN);
	while (fork() >= 0 || errno == EAGAIN)
		;
	return 1;
}

/* Every process of it forks without pause; the sum is bounded by the tree's own group in a run,
 * here by time. */
static void storm(void)
{
	const struct kern_sandbox_opts opts = { .keeper_owns = true };
	uint64_t *id = shared(sizeof(*id));
	struct tree t = { .k = k };
	pid_t keeper = fork();

	if (!keeper) {
		struct tree mine;

		tree_start(&mine, open_kern(), &opts, forks_for_ever, NULL);
		*id = mine.id;
		sleep_ms(30);
		_exit(0);
	}
	waitpid(keeper, NULL, 0);
	t.id = *id;
	tree_wait_live(&t, 0);
	print_message("%llu processes at most\n",
		      (unsigned long long)tree_row(&t).live_processes_peak);
	reap_all();
	kern_sandbox_delete(k, t.id);
}

/* Several, for the fork that is half done when the pass comes by. */
static void a_fork_storm_dies_too(void **state)
{
	(void)state;
	skip_without_kill();
	for (int i = 0; i < 10; i++)
		storm();
}

/* ---- the watcher, forced -------------------------------------------------------------------- */

/* A keeper that owns nothing in the kernel half: only the watcher kills. */
static void the_watcher_kills_for_a_dead_keeper(void **state)
{
	struct keeping job = { .watcher = true, .shape = { .width = 20 } };
	struct kept kept = start_keeper(&job);
	uint64_t ms;

	(void)state;
	ms = kill_and_wait(kept.keeper, &kept.tree);
	print_message("21 processes gone after %llu ms\n", (unsigned long long)ms);
	assert_true(tree_row(&kept.tree).flags & SBX_DYING);
	assert_int_equal(tree_row(&kept.tree).killed, 0);
	end_keeper(&kept);
}

static void the_watcher_keeps_the_deadline_of_a_stopped_keeper(void **state)
{
	struct keeping job = { .watcher = true, .shape = { .width = 3 } };
	struct kept kept;

	(void)state;
	job.deadline_ns = clock_boot_ns() + 1500000000;
	kept = start_keeper(&job);
	kill(kept.keeper, SIGSTOP);
	assert_int_equal(tree_row(&kept.tree).live_processes, 4);
	tree_wait_live(&kept.tree, 0);
	assert_true(clock_boot_ns() >= job.deadline_ns);
	end_keeper(&kept);
}

static void the_watcher_goes_when_told(void **state)
{
	const struct kern_sandbox_opts opts = { 0 };
	struct watcher_opts wo = { .owner_fd = -1, .timer_fd = -1 };
	struct err err = { .text = "" };
	struct watcher w;
	uint64_t label, id = 0;
	struct tree t;

	(void)state;
	tree_start(&t, k, &opts, sleeps, NULL);
	wo.id = t.id;
	OK(&err, watcher_start(&w, k, &wo, &err));
	assert_int_equal(kern_label_of(k, w.pidfd, &label), 0);
	assert_int_equal(label, 0);
	watcher_stop(&w);
	watcher_stop(&w);
	sleep_ms(50);
	assert_int_equal(kill(w.pid, 0), -1);
	assert_int_equal(tree_row(&t).live, 1);

	/* Before the root it would be the root. */
	OK(&err, kern_sandbox_create(k, &opts, &id, &err));
	wo.id = id;
	assert_int_equal(watcher_start(&w, k, &wo, &err), -EPROTO);
	kern_sandbox_delete(k, id);

	kern_signal_tree(k, t.id, SIGKILL);
	tree_wait(&t);
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
		cmocka_unit_test(a_killed_keeper_takes_its_tree_along),
		cmocka_unit_test(passes_follow_each_other_without_user_space),
		cmocka_unit_test(a_dead_owner_takes_the_tree_along_and_leaves_the_keeper),
		cmocka_unit_test(a_thread_of_the_owner_may_end),
		cmocka_unit_test(a_keeper_that_owns_nothing_kills_nothing),
		cmocka_unit_test(what_is_inside_dies_with_what_is_around),
		cmocka_unit_test(a_fork_storm_dies_too),
		cmocka_unit_test(the_watcher_kills_for_a_dead_keeper),
		cmocka_unit_test(the_watcher_keeps_the_deadline_of_a_stopped_keeper),
		cmocka_unit_test(the_watcher_goes_when_told),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
