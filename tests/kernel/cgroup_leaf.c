/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 60 */
/*
 * Controllers of pure v2: who must move to a leaf, and which rule is named when nobody may. Each test works
 * in a group of its own, in which it is the only supervisor.
 */
#include "cgroup_run.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <linux/magic.h>

#define MOUNT "/sys/fs/cgroup"
#define LEAF "leaf.sbx"

static void need_pure_v2(void)
{
	struct statfs fs;

	if (statfs(MOUNT, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC) {
		print_message("skipped: %s is not a cgroup2 mount: controllers are v1's here\n",
			      MOUNT);
		skip();
	}
	if (facts()->driver != CGROUP_RAW_V2 || !facts()->pids.ok) {
		print_message("skipped: driver %s, %s\n", cgroup_driver_name(facts()->driver),
			      facts()->pids.why);
		skip();
	}
}

/* What a supervisor inside the group found; shared with the test. */
struct found {
	int rc;
	struct err err;
	char path[1024]; /* of the run's group */
	char own[1024];	 /* where the supervisor was afterwards */
	pid_t child;	 /* made in it, -1: it takes no process */
	int left;	 /* -errno of the removal */
};

static void supervise(struct found *found)
{
	char name[64], text[2048];
	struct cgroup_opts opts = { .name = name, .limits = CGROUP_NO_LIMITS };
	struct cgroup *cg = NULL;
	pid_t child;

	fresh_name(name);
	opts.limits.pids = 10;
	found->rc = cgroup_create(&cg, &opts, &found->err);
	if (io_read_file(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text)) > 0)
		snprintf(found->own, sizeof(found->own), "%.1000s", strstr(text, "0::") + 3);
	if (found->rc < 0)
		return;
	snprintf(found->path, sizeof(found->path), "%s", cgroup_path(cg));
	child = clone_into(cg);
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	found->child = child;
	found->left = cgroup_destroy(cg, NULL);
	cgroup_free(cg);
}

static pid_t put(const char *dir, int (*fn)(void *), void *arg)
{
	char path[1100];
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		char byte;

		if (read(ends[0], &byte, 1) != 1)
			_exit(99);
		_exit(fn(arg));
	}
	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	assert_true(dprintf(open(path, O_WRONLY | O_CLOEXEC), "%d", (int)pid) > 0);
	assert_int_equal(write(ends[1], "g", 1), 1);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static int supervises(void *arg)
{
	supervise(arg);
	return 0;
}

static void worked(const struct found *found)
{
	must(found->rc, &found->err);
	assert_true(found->child > 0);
	assert_int_equal(found->left, 0);
}

static void make_group(char dir[256], const char *prefix)
{
	snprintf(dir, 256, MOUNT "/%s-%d-%llx", prefix, (int)getpid(),
		 (unsigned long long)clock_boot_ns());
	assert_int_equal(mkdir(dir, 0755), 0);
}

static void remove_group(const char *dir)
{
	char leaf[300];

	snprintf(leaf, sizeof(leaf), "%s/" LEAF, dir);
	rmdir(leaf);
	assert_int_equal(rmdir(dir), 0);
}

static bool holds(const char *dir, pid_t pid)
{
	char text[4096], path[1100], number[16];

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	snprintf(number, sizeof(number), "%d", (int)pid);
	assert_true(io_read_file(AT_FDCWD, path, text, sizeof(text)) >= 0);
	return strstr(text, number) != NULL;
}

static void a_supervisor_that_is_alone_goes_to_a_leaf(void **state)
{
	struct found *found = (void *)shared_counters();
	char dir[256], leaf[300];

	(void)state;
	need_pure_v2();
	make_group(dir, "alone");
	assert_int_equal(wait_status(put(dir, supervises, found)), 0);
	worked(found);
	assert_int_equal(strncmp(found->path, dir, strlen(dir)), 0);
	assert_non_null(strstr(found->own, "/" LEAF));
	snprintf(leaf, sizeof(leaf), "%s/" LEAF, dir);

	/* The next one, started in the leaf, makes its group beside it and not below. */
	assert_int_equal(wait_status(put(leaf, supervises, found)), 0);
	worked(found);
	assert_null(strstr(found->path, LEAF));
	remove_group(dir);
}

static void others_in_the_group_are_not_moved_and_the_rule_is_named(void **state)
{
	struct found *found = (void *)shared_counters();
	char dir[256];
	pid_t other;

	(void)state;
	need_pure_v2();
	make_group(dir, "shared");
	other = put(dir, sleeps, NULL);
	assert_int_equal(wait_status(put(dir, supervises, found)), 0);
	assert_int_equal(found->rc, -EOPNOTSUPP);
	assert_string_equal(found->err.capability, "pids_cap");
	assert_non_null(strstr(found->err.text, "no-internal-process rule (EBUSY)"));
	assert_non_null(strstr(found->err.text, dir));
	assert_null(strstr(found->own, LEAF));
	assert_true(holds(dir, other));
	kill(other, SIGKILL);
	wait_status(other);
	assert_int_equal(rmdir(dir), 0); /* nothing was left in it */
}

static void all_processes_of_a_group_of_ours_go_to_the_leaf(void **state)
{
	struct found *found = (void *)shared_counters();
	char dir[256], leaf[300];
	pid_t other;

	(void)state;
	need_pure_v2();
	make_group(dir, "sbx-outer");
	snprintf(leaf, sizeof(leaf), "%s/" LEAF, dir);
	other = put(dir, sleeps, NULL);
	assert_int_equal(wait_status(put(dir, supervises, found)), 0);
	worked(found);
	assert_true(holds(leaf, other));
	assert_false(holds(dir, other));
	kill(other, SIGKILL);
	wait_status(other);
	remove_group(dir);
}

static int supervises_container(void *arg)
{
	struct found *found = arg;

	/* As in a container with a cgroup namespace of its own: its group is the root it sees. */
	if (unshare(CLONE_NEWCGROUP | CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    umount2(MOUNT, MNT_DETACH) < 0 || mount("cgroup2", MOUNT, "cgroup2", 0, NULL) < 0)
		return 1;
	supervise(found);
	return 0;
}

static void a_containers_processes_go_to_a_leaf(void **state)
{
	struct found *found = (void *)shared_counters();
	char dir[256], leaf[300];
	pid_t other;

	(void)state;
	need_pure_v2();
	make_group(dir, "container");
	snprintf(leaf, sizeof(leaf), "%s/" LEAF, dir);
	other = put(dir, sleeps, NULL);
	assert_int_equal(wait_status(put(dir, supervises_container, found)), 0);
	worked(found);
	assert_int_equal(strncmp(found->path, MOUNT "/sbx-", strlen(MOUNT "/sbx-")), 0);
	assert_string_equal(found->own, "/" LEAF);
	assert_true(holds(leaf, other));
	kill(other, SIGKILL);
	wait_status(other);
	remove_group(dir);
}

static int supervises_as_nobody(void *arg)
{
	if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		return 1;
	supervise(arg);
	return 0;
}

static void what_was_not_delegated_is_refused_by_name(void **state)
{
	struct found *found = (void *)shared_counters();
	char dir[256];

	(void)state;
	need_pure_v2();
	make_group(dir, "notmine");
	assert_int_equal(wait_status(put(dir, supervises_as_nobody, found)), 0);
	assert_true(found->rc < 0);
	assert_int_equal(found->err.category, ERR_PERMISSION);
	assert_non_null(strstr(found->err.text, dir));
	assert_int_equal(rmdir(dir), 0);
}

/* The directory is ours but its subtree_control is not: where a manager delegated only half. */
static void half_a_delegation_names_the_file(void **state)
{
	struct found *found = (void *)shared_counters();
	char dir[256];

	(void)state;
	need_pure_v2();
	make_group(dir, "half");
	assert_int_equal(chown(dir, 65534, 65534), 0);
	assert_int_equal(wait_status(put(dir, supervises_as_nobody, found)), 0);
	assert_int_equal(found->rc, -EOPNOTSUPP);
	assert_non_null(strstr(found->err.text, "delegation (EACCES)"));
	assert_non_null(strstr(found->err.text, "cgroup.subtree_control"));
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_supervisor_that_is_alone_goes_to_a_leaf),
		cmocka_unit_test(others_in_the_group_are_not_moved_and_the_rule_is_named),
		cmocka_unit_test(all_processes_of_a_group_of_ours_go_to_the_leaf),
		cmocka_unit_test(a_containers_processes_go_to_a_leaf),
		cmocka_unit_test(what_was_not_delegated_is_refused_by_name),
		cmocka_unit_test(half_a_delegation_names_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
