/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 120 */
/* Groups of keepers that died, and the groups that enclose our own. */
#include "cgroup_run.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct cgroup_limits none = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };

/* ---- sweep ------------------------------------------------------------------------------------------- */
/* A keeper that dies without a word: prints the path, leaves groups and a process that outlives it. */
static void dead_keeper(const struct cgroup_limits *limits, char path[1024], pid_t *orphan)
{
	int ends[2];
	pid_t keeper;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	keeper = fork();
	if (keeper == 0) {
		struct cgroup *cg = create(limits);
		pid_t pid = clone_into(cg);

		if (pid == 0) {
			cgroup_enter_self(cg);
			close(ends[1]);
			for (;;)
				pause();
		}
		dprintf(ends[1], "%d %s\n", (int)pid, cgroup_path(cg));
		kill(getpid(), SIGKILL);
	}
	close(ends[1]);
	waitpid(keeper, NULL, 0);
	assert_int_equal(fscanf(fdopen(ends[0], "r"), "%d %1023s", orphan, path), 2);
}

static void a_dead_keepers_groups_are_swept(void **state)
{
	struct cgroup_limits limits = every_limit();
	const char *leaf;
	char path[1024];
	pid_t orphan = 0;
	struct err err;

	(void)state;
	dead_keeper(&limits, path, &orphan);
	leaf = strrchr(path, '/') + 1;
	assert_int_equal(kill(orphan, 0), 0);
	assert_true(groups_named(leaf) >= 1);
	must(cgroup_sweep(path, true, &err), &err);
	assert_int_equal(groups_named(leaf), 0);
	assert_true(WIFSIGNALED(wait_status(orphan)));
	must(cgroup_sweep(path, true, &err), &err);
}

static void the_sweep_touches_only_groups_of_runs(void **state)
{
	char dir[] = "/tmp/sbx-sweep-XXXXXX", other[1100];
	struct cgroup *cg = create(&none);
	struct err err;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(cgroup_sweep(dir, true, &err), -EXDEV);
	assert_int_equal(access(dir, F_OK), 0);
	rmdir(dir);

	snprintf(other, sizeof(other), "%s/n", cgroup_path(cg));
	assert_int_equal(mkdir(other, 0755), 0);
	assert_int_equal(cgroup_sweep(other, true, &err), -EINVAL);
	assert_int_equal(access(other, F_OK), 0);
	discard(cg);
}

/* ---- what encloses us --------------------------------------------------------------------------------- */
static int sees_enclosing(void *arg)
{
	struct cgroup_limits found;

	if (cgroup_enclosing(&found, NULL) < 0)
		return 1;
	memcpy(arg, &found, sizeof(found));
	return 0;
}

static void enclosing_limits_are_the_tightest_above_us(void **state)
{
	struct cgroup_limits limits = every_limit(), *found = (void *)shared_counters();
	struct running r;

	(void)state;
	start(&r, &limits, sees_enclosing, found);
	assert_int_equal(wait_status(r.pid), 0);
	if (limits.memory_bytes != CGROUP_NOT_ASKED)
		assert_int_equal(found->memory_bytes, limits.memory_bytes);
	if (limits.pids != CGROUP_NOT_ASKED)
		assert_int_equal(found->pids, limits.pids);
	if (limits.cpu_millicores != CGROUP_NOT_ASKED)
		assert_int_equal(found->cpu_millicores, limits.cpu_millicores);
	end(&r);
}

static int asks_for_more(void *arg)
{
	char name[64];
	struct cgroup_opts opts = { .name = name, .limits = none };
	struct cgroup *cg = NULL;
	struct cgroup_limits *now = arg;

	fresh_name(name);
	opts.limits.cpu_millicores = 1700;
	if (cgroup_create(&cg, &opts, NULL) < 0)
		return 1;
	cgroup_limits_now(cg, now);
	return cgroup_destroy(cg, NULL) < 0;
}

static void a_run_inside_gets_no_more_cpu_than_we_have(void **state)
{
	struct cgroup_limits limits = none, *now = (void *)shared_counters();
	struct running r;

	(void)state;
	NEED(cpu);
	limits.cpu_millicores = 300;
	start(&r, &limits, asks_for_more, now);
	assert_int_equal(wait_status(r.pid), 0);
	/* v2 keeps what was written and takes the lower of both; v1 only takes the lower. */
	assert_true(now->cpu_millicores == 300 ||
		    (cgroup_driver(r.cg) != CGROUP_HYBRID && now->cpu_millicores == 1700));
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dead_keepers_groups_are_swept),
		cmocka_unit_test(the_sweep_touches_only_groups_of_runs),
		cmocka_unit_test(enclosing_limits_are_the_tightest_above_us),
		cmocka_unit_test(a_run_inside_gets_no_more_cpu_than_we_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
