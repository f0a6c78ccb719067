/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 120 */
/* Groups from creation to removal: place, membership, kill, freeze, what the command made inside, sweep. */
#include "cgroup_run.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct cgroup_limits none = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };

static const char *leaf_of(const struct cgroup *cg)
{
	return strrchr(cgroup_path(cg), '/') + 1;
}

/* ---- creation and removal --------------------------------------------------------------------------- */
static void a_run_without_limits_makes_one_group(void **state)
{
	struct cgroup *cg = create(&none);
	char leaf[NAME_MAX];

	(void)state;
	snprintf(leaf, sizeof(leaf), "%s", leaf_of(cg));
	assert_int_equal(groups_named(leaf), 1);
	assert_int_equal(cgroup_populated(cg), 0);
	discard(cg);
	assert_int_equal(groups_named(leaf), 0);
}

static void removal_is_idempotent_and_complete(void **state)
{
	struct cgroup_limits limits = every_limit();
	struct cgroup *cg = create(&limits);
	char leaf[NAME_MAX];
	struct err err;

	(void)state;
	snprintf(leaf, sizeof(leaf), "%s", leaf_of(cg));
	assert_true(groups_named(leaf) >= 1);
	for (int i = 0; i < 3; i++)
		must(cgroup_destroy(cg, &err), &err);
	assert_int_equal(groups_named(leaf), 0);
	assert_int_equal(cgroup_kill(cg), 0);
	assert_int_equal(cgroup_populated(cg), 0);
	cgroup_free(cg);
}

static void a_failed_creation_leaves_nothing(void **state)
{
	char name[64];
	struct cgroup_opts opts = { .name = name, .limits = none };
	struct cgroup *first = NULL, *second = NULL;
	struct err err;

	(void)state;
	fresh_name(name);
	must(cgroup_create(&first, &opts, &err), &err);
	assert_int_equal(cgroup_create(&second, &opts, &err), -EEXIST);
	assert_non_null(strstr(err.text, name));
	assert_null(second);
	/* The failure of the second is not the end of the first. */
	assert_int_equal(groups_named(name), 1);
	discard(first);

	opts.parent = "/no-such-parent";
	assert_int_equal(cgroup_create(&first, &opts, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no-such-parent"));
	opts.parent = "../up";
	assert_int_equal(cgroup_create(&first, &opts, &err), -EINVAL);
	opts.parent = NULL;
	/* A quota of nothing is refused by the kernel, after the groups were made. */
	opts.limits.cpu_millicores = 0;
	fresh_name(name);
	assert_int_equal(cgroup_create(&first, &opts, &err), -EOPNOTSUPP);
	assert_string_equal(err.capability, "cpu_cap");
	assert_int_equal(groups_named(name), 0);
}

static const char *below_mount(const char *path)
{
	static const char unified[] = "/sys/fs/cgroup/unified/", pure[] = "/sys/fs/cgroup/";

	return path + (strncmp(path, unified, strlen(unified)) ? strlen(pure) : strlen(unified)) -
	       1;
}

static void a_parent_is_taken_by_its_path(void **state)
{
	char name[64], parent[300];
	struct cgroup *outer = create(&none), *inner = NULL;
	struct cgroup_opts opts = { .name = name, .limits = none, .parent = parent };
	struct err err;

	(void)state;
	snprintf(parent, sizeof(parent), "%s/", below_mount(cgroup_path(outer)));
	fresh_name(name);
	must(cgroup_create(&inner, &opts, &err), &err);
	assert_int_equal(strncmp(cgroup_path(inner), cgroup_path(outer),
				 strlen(cgroup_path(outer))),
			 0);
	assert_int_equal(cgroup_level(inner), cgroup_level(outer) + 1);
	discard(inner);
	discard(outer);
}

static void id_and_level_are_the_kernels(void **state)
{
	_Alignas(struct file_handle) char bytes[sizeof(struct file_handle) + sizeof(uint64_t)];
	struct file_handle *handle = (void *)bytes;
	struct cgroup *cg = create(&none);
	uint64_t id;
	int mount;

	(void)state;
	handle->handle_bytes = sizeof(id);
	assert_int_equal(name_to_handle_at(AT_FDCWD, cgroup_path(cg), handle, &mount, 0), 0);
	memcpy(&id, handle->f_handle, sizeof(id));
	assert_int_equal(cgroup_id(cg), id);
	assert_true(cgroup_level(cg) >= 1);
	discard(cg);
}

/* ---- membership ------------------------------------------------------------------------------------- */
static void a_child_that_is_elsewhere_is_not_released(void **state)
{
	struct cgroup *other = create(&none);
	struct running r;
	char pid[16];
	struct err err;

	(void)state;
	start(&r, &none, sleeps, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)r.pid);
	assert_int_equal(io_write_file(cgroup_clone_fd(other), "cgroup.procs", pid), 0);
	assert_int_equal(cgroup_verify(r.cg, r.pid, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, leaf_of(other)));
	assert_non_null(strstr(err.text, leaf_of(r.cg)));
	cgroup_kill(other);
	end(&r);
	WAIT_UNTIL(cgroup_populated(other) == 0);
	discard(other);
}

static void the_parent_can_put_a_child_into_the_groups_too(void **state)
{
	struct cgroup_limits limits = every_limit();
	struct cgroup *cg = create(&limits);
	pid_t pid = clone_into(cg);
	struct err err;

	(void)state;
	if (pid == 0)
		sleeps(NULL);
	must(cgroup_enter(cg, pid, &err), &err);
	must(cgroup_verify(cg, pid, &err), &err);
	assert_int_equal(cgroup_kill(cg), 0);
	wait_status(pid);
	discard(cg);
}

static int forks_once(void *arg)
{
	pid_t pid = fork();

	if (pid == 0)
		sleeps(NULL);
	*(_Atomic uint64_t *)arg = (uint64_t)pid;
	return sleeps(NULL);
}

static void children_are_born_into_every_group(void **state)
{
	_Atomic uint64_t *child = shared_counters();
	struct cgroup_limits limits = every_limit();
	struct running r;
	struct err err;

	(void)state;
	start(&r, &limits, forks_once, (void *)child);
	WAIT_UNTIL(*child);
	must(cgroup_verify(r.cg, (pid_t)*child, &err), &err);
	end(&r);
}

/* ---- kill and freeze -------------------------------------------------------------------------------- */
static void what_is_outside_survives_the_kill(void **state)
{
	struct running victim, neighbour;
	int status;

	(void)state;
	start(&victim, &none, sleeps, NULL);
	start(&neighbour, &none, sleeps, NULL);
	assert_int_equal(cgroup_kill(victim.cg), 0);
	status = wait_status(victim.pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(kill(neighbour.pid, 0), 0);
	assert_int_equal(cgroup_populated(neighbour.cg), 1);
	end(&victim);
	end(&neighbour);
}

static int counts(void *arg)
{
	_Atomic uint64_t *n = arg;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;; sleep_ms(1))
		++*n;
	return 0;
}

static bool stands_still(_Atomic uint64_t *n)
{
	uint64_t before = *n;

	sleep_ms(50);
	return *n == before;
}

static void a_frozen_tree_stands_still_thaws_and_dies_frozen(void **state)
{
	_Atomic uint64_t *n = shared_counters();
	struct running r;
	int status;

	(void)state;
	start(&r, &none, counts, (void *)n);
	WAIT_UNTIL(*n > 3);
	assert_int_equal(cgroup_freeze(r.cg, true), 0);
	WAIT_UNTIL(stands_still(n));
	assert_int_equal(cgroup_freeze(r.cg, false), 0);
	WAIT_UNTIL(!stands_still(n));

	assert_int_equal(cgroup_freeze(r.cg, true), 0);
	WAIT_UNTIL(stands_still(n));
	assert_int_equal(cgroup_kill(r.cg), 0);
	status = wait_status(r.pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	end(&r);
}

/* ---- what the command made inside -------------------------------------------------------------------- */
static void nest(const char *top, int levels, char deepest[4096])
{
	snprintf(deepest, 4096, "%s", top);
	for (int i = 0; i < levels; i++) {
		strcat(deepest, "/n");
		assert_int_equal(mkdir(deepest, 0755), 0);
	}
}

static void move(pid_t pid, const char *dir, const char *file)
{
	char path[4200], number[16];
	int r;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	snprintf(number, sizeof(number), "%d", (int)pid);
	r = io_write_file(AT_FDCWD, path, number);
	if (r < 0)
		fail_msg("%s: %s", path, strerror(-r));
}

static void nested_groups_go_with_what_lives_in_them(void **state)
{
	char deepest[4096], side[4096];
	struct running r;

	(void)state;
	start(&r, &none, sleeps, NULL);
	nest(cgroup_path(r.cg), 40, deepest);
	snprintf(side, sizeof(side), "%.4000s/.hidden", cgroup_path(r.cg));
	assert_int_equal(mkdir(side, 0755), 0);
	for (int i = 0; i < 30; i++) {
		snprintf(side, sizeof(side), "%.4000s/.hidden/%d", cgroup_path(r.cg), i);
		assert_int_equal(mkdir(side, 0755), 0);
	}
	move(r.pid, deepest, "cgroup.procs");
	assert_int_equal(cgroup_populated(r.cg), 1);
	end(&r);
	assert_int_not_equal(access(side, F_OK), 0);
}

static void nested_v1_groups_go_too(void **state)
{
	struct cgroup_limits limits = every_limit();
	char command[256], v1[600] = "", deepest[4096];
	struct running r;
	FILE *found;

	(void)state;
	start(&r, &limits, sleeps, NULL);
	snprintf(command, sizeof(command),
		 "find /sys/fs/cgroup/pids -type d -name '%s' 2>/dev/null", leaf_of(r.cg));
	found = popen(command, "r");
	if (fgets(v1, sizeof(v1), found))
		v1[strcspn(v1, "\n")] = '\0';
	pclose(found);
	if (!*v1) {
		end(&r);
		print_message("skipped: no v1 pids group here\n");
		skip();
	}
	nest(v1, 3, deepest);
	move(r.pid, deepest, "cgroup.procs");
	end(&r);
	assert_int_not_equal(access(v1, F_OK), 0);
}

static void *idles(void *arg)
{
	*(_Atomic uint64_t *)arg = (uint64_t)syscall(SYS_gettid);
	sleeps(NULL);
	return NULL;
}

static int threads(void *arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, idles, arg);
	return sleeps(NULL);
}

static void a_threaded_group_inside_is_killed_and_removed(void **state)
{
	_Atomic uint64_t *tid = shared_counters();
	char inside[4096], type[4200];
	struct running r;
	int status;

	(void)state;
	start(&r, &none, threads, (void *)tid);
	WAIT_UNTIL(*tid);
	nest(cgroup_path(r.cg), 1, inside);
	snprintf(type, sizeof(type), "%s/cgroup.type", inside);
	assert_int_equal(io_write_file(AT_FDCWD, type, "threaded"), 0);
	move((pid_t)*tid, inside, "cgroup.threads");
	assert_int_equal(cgroup_kill(r.cg), 0);
	status = wait_status(r.pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	end(&r);
}

static void removal_gives_up_on_the_living_and_names_the_group(void **state)
{
	struct running r;
	uint64_t begin;
	struct err err;

	(void)state;
	start(&r, &none, sleeps, NULL);
	begin = clock_boot_ns();
	assert_int_equal(cgroup_destroy(r.cg, &err), -EBUSY);
	assert_in_range((clock_boot_ns() - begin) / MS, 400, 900);
	assert_non_null(strstr(err.text, cgroup_path(r.cg)));
	assert_int_equal(kill(r.pid, 0), 0);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_without_limits_makes_one_group),
		cmocka_unit_test(removal_is_idempotent_and_complete),
		cmocka_unit_test(a_failed_creation_leaves_nothing),
		cmocka_unit_test(a_parent_is_taken_by_its_path),
		cmocka_unit_test(id_and_level_are_the_kernels),
		cmocka_unit_test(a_child_that_is_elsewhere_is_not_released),
		cmocka_unit_test(the_parent_can_put_a_child_into_the_groups_too),
		cmocka_unit_test(children_are_born_into_every_group),
		cmocka_unit_test(what_is_outside_survives_the_kill),
		cmocka_unit_test(a_frozen_tree_stands_still_thaws_and_dies_frozen),
		cmocka_unit_test(nested_groups_go_with_what_lives_in_them),
		cmocka_unit_test(nested_v1_groups_go_too),
		cmocka_unit_test(a_threaded_group_inside_is_killed_and_removed),
		cmocka_unit_test(removal_gives_up_on_the_living_and_names_the_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
