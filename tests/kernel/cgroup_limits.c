/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 120 */
/* Limits bite: memory, tasks, CPU; what is written is read back; changes of a live run. */
#include "cgroup_run.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>

#define CAP (64 * MIB)
#define PAGE 4096

static struct cgroup_limits memory_limit(uint64_t bytes)
{
	struct cgroup_limits limits = CGROUP_NO_LIMITS;

	limits.memory_bytes = bytes;
	return limits;
}

/* ---- memory ---------------------------------------------------------------------------------------- */
struct hog {
	_Atomic uint64_t *touched; /* bytes, all of them together */
	uint64_t bytes;
	int children;
	bool file; /* memory that no process owns */
};

static void touch(const struct hog *h)
{
	int fd = h->file ? memfd_create("hog", MFD_CLOEXEC) : -1;
	volatile char *p = h->file ? NULL : malloc(h->bytes);
	char page[PAGE] = { 1 };

	for (uint64_t at = 0; at < h->bytes; at += PAGE) {
		if (h->file && write(fd, page, PAGE) != PAGE)
			_exit(3);
		if (!h->file)
			p[at] = 1;
		*h->touched += PAGE;
	}
}

static int hog(void *arg)
{
	const struct hog *h = arg;

	for (int i = 0; i < h->children; i++)
		if (fork() == 0) {
			touch(h);
			sleeps(NULL);
		}
	if (!h->children)
		touch(h);
	return sleeps(NULL);
}

/* What the keeper does: waits for the event, asks, kills the tree. */
static void keep_until_oom(struct running *r)
{
	uint32_t events;
	struct pollfd p = { .fd = cgroup_events_fd(r->cg, &events) };
	uint64_t until_ns = clock_boot_ns() + WAIT_MS * MS;

	p.events = events == EPOLLPRI ? POLLPRI : POLLIN;
	while (!cgroup_oom(r->cg)) {
		if (clock_boot_ns() > until_ns)
			fail_msg("no out-of-memory in %d ms", WAIT_MS);
		poll(&p, 1, 500);
	}
	assert_int_equal(cgroup_kill(r->cg), 0);
}

static void run_hog(int children, uint64_t bytes, bool file)
{
	struct hog h = { shared_counters(), bytes, children, file };
	struct cgroup_limits limits = memory_limit(CAP);
	struct cgroup_usage usage;
	struct running r;
	int status;

	start(&r, &limits, hog, &h);
	keep_until_oom(&r);
	status = wait_status(r.pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	WAIT_UNTIL(cgroup_populated(r.cg) == 0);

	/* v1 kills one at a time: before we are told, the others go on in what that one had. */
	assert_true(*h.touched <= CAP || (children && cgroup_driver(r.cg) == CGROUP_HYBRID));
	cgroup_usage(r.cg, &usage);
	assert_true(usage.oom_kills >= 1 && usage.oom_kills != UINT64_MAX);
	assert_true(usage.memory_max_hits >= 1); /* or unmeasured */
	assert_true(usage.memory_peak_bytes <= CAP);
	assert_true(usage.memory_peak_bytes > CAP / 2);
	end(&r);
}

static void a_hog_that_touches_every_page_ends_at_the_memory_cap(void **state)
{
	(void)state;
	NEED(memory);
	run_hog(0, 3 * CAP, false);
}

static void eight_children_share_one_memory_cap_and_all_die(void **state)
{
	(void)state;
	NEED(memory);
	run_hog(8, 24 * MIB, false);
}

static void memory_of_files_counts_too(void **state)
{
	(void)state;
	NEED(memory);
	run_hog(0, 3 * CAP, true);
}

static void the_kernel_alone_kills_the_whole_tree_on_v2(void **state)
{
	struct hog h = { shared_counters(), 24 * MIB, 8, false };
	struct cgroup_limits limits = memory_limit(CAP);
	struct running r;

	(void)state;
	NEED(memory);
	start(&r, &limits, hog, &h);
	if (cgroup_driver(r.cg) == CGROUP_HYBRID) {
		end(&r);
		print_message(
			"skipped: cgroup v1 has no memory.oom.group; the keeper kills the tree\n");
		skip();
	}
	WAIT_UNTIL(cgroup_populated(r.cg) == 0);
	assert_true(cgroup_oom(r.cg));
	end(&r);
}

static int stays_small(void *arg)
{
	struct hog h = { arg, CAP / 4, 0, false };

	touch(&h);
	return 0;
}

static void below_the_memory_cap_nothing_happens(void **state)
{
	struct cgroup_limits limits = memory_limit(CAP);
	struct running r;

	(void)state;
	NEED(memory);
	start(&r, &limits, stays_small, (void *)shared_counters());
	assert_int_equal(wait_status(r.pid), 0);
	assert_false(cgroup_oom(r.cg));
	end(&r);
}

/* ---- tasks ----------------------------------------------------------------------------------------- */
#define TASKS 20

static void *idle_thread(void *arg)
{
	pause();
	return arg;
}

/* counters: 0 forks that worked, 1 refused with EAGAIN, 2 refused otherwise, 3 done */
static int bomb(void *arg)
{
	_Atomic uint64_t *n = arg;
	pthread_t thread;

	for (int i = 0; i < 3 * TASKS; i++) {
		bool as_thread = i % 3 == 2;
		int error = 0;
		pid_t pid = 1;

		if (as_thread)
			error = pthread_create(&thread, NULL, idle_thread, NULL);
		else
			pid = fork();
		if (pid == 0)
			sleeps(NULL);
		if (pid < 0)
			error = errno;
		n[!error ? 0 : error == EAGAIN ? 1 : 2]++;
	}
	n[3] = 1;
	return sleeps(NULL);
}

static void a_fork_bomb_stops_exactly_at_the_task_cap(void **state)
{
	_Atomic uint64_t *n = shared_counters();
	struct cgroup_limits limits = CGROUP_NO_LIMITS;
	struct cgroup_usage usage;
	struct running r;

	(void)state;
	NEED(pids);
	limits.pids = TASKS;
	start(&r, &limits, bomb, (void *)n);
	WAIT_UNTIL(n[3]);
	assert_int_equal(n[0], TASKS - 1);
	assert_int_equal(n[1], 3 * TASKS - (TASKS - 1));
	assert_int_equal(n[2], 0);
	cgroup_usage(r.cg, &usage);
	assert_true(usage.tasks_peak == TASKS || usage.tasks_peak == UINT64_MAX);
	assert_int_equal(usage.pids_refused, 3 * TASKS - (TASKS - 1));
	end(&r);
}

/* ---- CPU ------------------------------------------------------------------------------------------- */
#define WORK 60000000

static int work(void *arg)
{
	_Atomic uint64_t *wall_ns = arg;
	uint64_t begin = clock_boot_ns();
	volatile uint64_t x = 1;

	for (int i = 0; i < WORK; i++)
		x = x * 6364136223846793005ULL + 1;
	*wall_ns = clock_boot_ns() - begin;
	return 0;
}

static uint64_t timed_work(uint64_t millicores, struct cgroup_usage *usage)
{
	_Atomic uint64_t *wall_ns = shared_counters();
	struct cgroup_limits limits = CGROUP_NO_LIMITS;
	struct running r;

	limits.cpu_millicores = millicores;
	start(&r, &limits, work, (void *)wall_ns);
	assert_int_equal(wait_status(r.pid), 0);
	cgroup_usage(r.cg, usage);
	end(&r);
	return *wall_ns;
}

static void a_cpu_cap_throttles_fixed_work(void **state)
{
	struct cgroup_usage free_usage, capped_usage;
	uint64_t free_ns, capped_ns;

	(void)state;
	NEED(cpu);
	free_ns = timed_work(CGROUP_NOT_ASKED, &free_usage);
	capped_ns = timed_work(100, &capped_usage);
	/* Of CPU, not of wall time: the machine may be busy in the control too. */
	assert_true(capped_ns > 5 * free_usage.cpu_user_ns);
	assert_true(capped_ns > free_ns);
	assert_true(capped_usage.cpu_throttled > 0 && capped_usage.cpu_throttled != UINT64_MAX);
	assert_true(free_usage.cpu_user_ns != UINT64_MAX && free_usage.cpu_user_ns > 0);
}

static void cpu_time_is_counted_without_any_limit(void **state)
{
	_Atomic uint64_t *wall_ns = shared_counters();
	struct cgroup_limits none = CGROUP_NO_LIMITS;
	struct running r;

	(void)state;
	start(&r, &none, work, (void *)wall_ns);
	wait_status(r.pid);
	assert_in_range(cgroup_cpu_ns(r.cg), *wall_ns / 20, *wall_ns + 200 * MS);
	end(&r);
}

/* ---- written, read back, changed ------------------------------------------------------------------- */
static void limits_that_are_asked_are_what_the_kernel_holds(void **state)
{
	struct cgroup_limits limits = { CAP + 100, 8 * MIB, 33, 5 }, now;
	struct cgroup *cg;
	struct err err;

	(void)state;
	NEED(memory);
	NEED(pids);
	NEED(cpu);
	cg = create(&limits);
	cgroup_limits_now(cg, &now);
	assert_int_equal(now.memory_bytes, CAP);
	assert_true(now.swap_bytes <= 8 * MIB + PAGE);
	assert_int_equal(now.pids, 33);
	assert_int_equal(now.cpu_millicores, 5);
	must(cgroup_destroy(cg, &err), &err);
	cgroup_free(cg);
}

/* The directory with the limit files, found as an outsider would: by name below every mount. */
static int find_file(const char *leaf, const char *file, char path[600])
{
	static const char *const mounts[] = {
		"/sys/fs/cgroup",      "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory",
		"/sys/fs/cgroup/pids", "/sys/fs/cgroup/cpu",	 "/sys/fs/cgroup/cpu,cpuacct"
	};
	char command[800];
	FILE *found;

	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		snprintf(command, sizeof(command), "find %s -xdev -path '*/%s/%s' 2>/dev/null",
			 mounts[i], leaf, file);
		found = popen(command, "r");
		path[0] = '\0';
		if (found && fgets(path, 600, found))
			path[strcspn(path, "\n")] = '\0';
		pclose(found);
		if (*path)
			return 0;
	}
	return -ENOENT;
}

static void overwrite(const struct cgroup *cg, const char *v2, const char *v1, const char *v1_value)
{
	const char *leaf = strrchr(cgroup_path(cg), '/') + 1;
	char path[600];

	if (!find_file(leaf, v2, path))
		assert_int_equal(io_write_file(AT_FDCWD, path, "max"), 0);
	else if (!find_file(leaf, v1, path))
		assert_int_equal(io_write_file(AT_FDCWD, path, v1_value), 0);
	else
		fail_msg("no %s or %s of %s", v2, v1, leaf);
}

static void refuses_to_release(struct running *r, const char *capability)
{
	struct err err;

	assert_int_equal(cgroup_verify(r->cg, r->pid, &err), -EOPNOTSUPP);
	assert_int_equal(err.category, ERR_CANNOT_ENFORCE);
	assert_string_equal(err.capability, capability);
	assert_non_null(strstr(err.text, "no limit"));
}

static void a_limit_that_somebody_took_away_is_noticed(void **state)
{
	struct cgroup_limits limits = { CGROUP_NOT_ASKED, CGROUP_NOT_ASKED, 33, 500 }, now;
	struct running r;

	(void)state;
	NEED(pids);
	NEED(cpu);
	start(&r, &limits, sleeps, NULL);
	overwrite(r.cg, "pids.max", "pids.max", "max");
	refuses_to_release(&r, "pids_cap");
	cgroup_limits_now(r.cg, &now);
	assert_true(now.pids == CGROUP_LOST);
	assert_int_equal(now.cpu_millicores, 500);
	assert_true(now.memory_bytes == CGROUP_NOT_ASKED);
	end(&r);

	start(&r, &limits, sleeps, NULL);
	overwrite(r.cg, "cpu.max", "cpu.cfs_quota_us", "-1");
	refuses_to_release(&r, "cpu_cap");
	end(&r);
}

#ifdef SBX_FAULTS
static void a_write_that_does_nothing_refuses_the_run(void **state)
{
	static const char *const capabilities[] = { "memory_cap", "pids_cap", "cpu_cap" };
	struct cgroup_limits none = CGROUP_NO_LIMITS;
	char name[64];
	struct cgroup_opts opts = { .name = name };
	struct cgroup *cg = NULL;
	struct err err;

	(void)state;
	NEED(memory);
	NEED(pids);
	NEED(cpu);
	for (int i = 0; i < 3; i++) {
		fresh_name(name);
		opts.limits = none;
		*(i == 0   ? &opts.limits.memory_bytes
		  : i == 1 ? &opts.limits.pids
			   : &opts.limits.cpu_millicores) = 64 * MIB >> 16;
		setenv("SBX_FAULT", "cgroup_write:drop", 1);
		assert_int_equal(cgroup_create(&cg, &opts, &err), -EOPNOTSUPP);
		unsetenv("SBX_FAULT");
		assert_string_equal(err.capability, capabilities[i]);
	}
}
#endif

static void limits_of_a_live_run_change(void **state)
{
	struct cgroup_limits limits = { CAP, CGROUP_NOT_ASKED, 33, 500 }, change = CGROUP_NO_LIMITS,
			     now;
	struct running r;
	struct err err;

	(void)state;
	NEED(memory);
	NEED(pids);
	NEED(cpu);
	start(&r, &limits, sleeps, NULL);
	change.memory_bytes = 2 * CAP;
	change.pids = 12;
	change.cpu_millicores = 3;
	must(cgroup_update(r.cg, &change, &err), &err);
	cgroup_limits_now(r.cg, &now);
	assert_int_equal(now.memory_bytes, 2 * CAP);
	assert_int_equal(now.pids, 12);
	assert_int_equal(now.cpu_millicores, 3);

	change = memory_limit(CAP / 2);
	must(cgroup_update(r.cg, &change, &err), &err);
	cgroup_limits_now(r.cg, &now);
	assert_int_equal(now.memory_bytes, CAP / 2);
	assert_int_equal(now.pids, 12);
	must(cgroup_verify(r.cg, r.pid, &err), &err);
	end(&r);
}

static void a_limit_the_run_was_started_without_is_refused_on_v1(void **state)
{
	struct cgroup_limits none = CGROUP_NO_LIMITS, change = memory_limit(CAP);
	struct running r;
	struct err err;

	(void)state;
	start(&r, &none, sleeps, NULL);
	if (cgroup_driver(r.cg) != CGROUP_HYBRID) {
		end(&r);
		print_message("skipped: not a hybrid host\n");
		skip();
	}
	assert_int_equal(cgroup_update(r.cg, &change, &err), -EOPNOTSUPP);
	assert_string_equal(err.capability, "memory_cap");
	if (!strstr(err.text, "started without a memory limit"))
		fail_msg("%s", err.text);
	end(&r);
}

static void swap_alone_is_refused_where_it_cannot_be_bounded_alone(void **state)
{
	char name[64];
	struct cgroup_opts opts = { .name = name, .limits = CGROUP_NO_LIMITS };
	struct cgroup *cg = NULL;
	struct err err;

	(void)state;
	if (facts()->driver != CGROUP_HYBRID) {
		print_message("skipped: v2 bounds swap alone\n");
		skip();
	}
	fresh_name(name);
	opts.limits.swap_bytes = MIB;
	assert_int_equal(cgroup_create(&cg, &opts, &err), -EOPNOTSUPP);
	assert_string_equal(err.capability, "memory_cap");
	assert_non_null(strstr(err.text, "give --memory too"));
	assert_null(cg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hog_that_touches_every_page_ends_at_the_memory_cap),
		cmocka_unit_test(eight_children_share_one_memory_cap_and_all_die),
		cmocka_unit_test(memory_of_files_counts_too),
		cmocka_unit_test(the_kernel_alone_kills_the_whole_tree_on_v2),
		cmocka_unit_test(below_the_memory_cap_nothing_happens),
		cmocka_unit_test(a_fork_bomb_stops_exactly_at_the_task_cap),
		cmocka_unit_test(a_cpu_cap_throttles_fixed_work),
		cmocka_unit_test(cpu_time_is_counted_without_any_limit),
		cmocka_unit_test(limits_that_are_asked_are_what_the_kernel_holds),
		cmocka_unit_test(a_limit_that_somebody_took_away_is_noticed),
#ifdef SBX_FAULTS
		cmocka_unit_test(a_write_that_does_nothing_refuses_the_run),
#endif
		cmocka_unit_test(limits_of_a_live_run_change),
		cmocka_unit_test(a_limit_the_run_was_started_without_is_refused_on_v1),
		cmocka_unit_test(swap_alone_is_refused_where_it_cannot_be_bounded_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
