/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc says of groups, as paths; and the other pure parts of kern/cgroup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kern/cgroup_limits.h"
#include "kern/cgroup_paths.h"
#include "kern/cgroup_scope.h"

static const char hybrid[] = "9:name=systemd:/\n8:pids:/jobs/a\n4:memory:/mem:with:colons/x\n"
			     "2:cpu,cpuacct:/\n0::/own\n";

static void the_group_of_each_hierarchy_is_found(void **state)
{
	char name[CGROUP_PATH_MAX];

	(void)state;
	assert_int_equal(cgroup_paths_name(hybrid, NULL, name), 0);
	assert_string_equal(name, "/own");
	assert_int_equal(cgroup_paths_name(hybrid, "pids", name), 0);
	assert_string_equal(name, "/jobs/a");
	assert_int_equal(cgroup_paths_name(hybrid, "memory", name), 0);
	assert_string_equal(name, "/mem:with:colons/x");
	assert_int_equal(cgroup_paths_name(hybrid, "cpuacct", name), 0);
	assert_string_equal(name, "/");
	assert_int_equal(cgroup_paths_name(hybrid, "cpu", name), 0);
	assert_int_equal(cgroup_paths_name(hybrid, "cpuset", name), -ENOENT);
	assert_int_equal(cgroup_paths_name(hybrid, "cp", name), -ENOENT);
	assert_int_equal(cgroup_paths_name("", NULL, name), -ENOENT);
	assert_int_equal(cgroup_paths_name("0::/last", NULL, name), 0);
	assert_string_equal(name, "/last");
	assert_int_equal(cgroup_paths_name("garbage\n:::\n0:\n", "pids", name), -ENOENT);
}

static void a_name_that_does_not_fit_is_refused(void **state)
{
	char name[CGROUP_PATH_MAX], text[2 * CGROUP_PATH_MAX] = "0::/";

	(void)state;
	memset(text + 4, 'x', CGROUP_PATH_MAX);
	assert_int_equal(cgroup_paths_name(text, NULL, name), -ENAMETOOLONG);
}

static const char mounts[] =
	"22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
	"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
	"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 master:2 - cgroup cgroup "
	"rw,memory\n"
	"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
	"41 31 0:38 / /sys/fs/cgroup/uni\\040fied rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n";

static void the_mount_of_a_hierarchy_gives_the_directory(void **state)
{
	struct cgroup_paths p = { .name = "/own/x" };

	(void)state;
	assert_int_equal(cgroup_paths_find(mounts, NULL, &p), 0);
	assert_string_equal(p.dir, "/sys/fs/cgroup/uni fied/own/x");
	assert_string_equal(p.mount, "/sys/fs/cgroup/uni fied");
	strcpy(p.name, "/");
	assert_int_equal(cgroup_paths_find(mounts, "memory", &p), 0);
	assert_string_equal(p.dir, "/sys/fs/cgroup/memory");
	assert_int_equal(cgroup_paths_find(mounts, "cpuacct", &p), 0);
	assert_string_equal(p.dir, "/sys/fs/cgroup/cpu,cpuacct");
	assert_int_equal(cgroup_paths_find(mounts, "pids", &p), -ENOENT);
	assert_int_equal(cgroup_paths_find("", NULL, &p), -ENOENT);
	assert_int_equal(cgroup_paths_find("1 2 3\n- cgroup2\n\n", NULL, &p), -ENOENT);
}

/* A container that sees only its own part: what lies outside of it has no directory here. */
static void a_mount_of_a_part_shows_that_part_only(void **state)
{
	static const char part[] = "40 30 0:30 /docker/abc /cg ro - cgroup2 cgroup rw\n";
	static const char outside[] = "40 30 0:30 /../.. /cg ro - cgroup2 cgroup rw\n";
	struct cgroup_paths p = { .name = "/docker/abc/x" };

	(void)state;
	assert_int_equal(cgroup_paths_find(part, NULL, &p), 0);
	assert_string_equal(p.dir, "/cg/x");
	strcpy(p.name, "/docker/abc");
	assert_int_equal(cgroup_paths_find(part, NULL, &p), 0);
	assert_string_equal(p.dir, "/cg");
	strcpy(p.name, "/docker/abcd");
	assert_int_equal(cgroup_paths_find(part, NULL, &p), -EXDEV);
	strcpy(p.name, "/");
	assert_int_equal(cgroup_paths_find(part, NULL, &p), -EXDEV);
	assert_int_equal(cgroup_paths_find(outside, NULL, &p), -EXDEV);
	strcpy(p.name, "/../b");
	assert_int_equal(cgroup_paths_find("40 30 0:30 / /cg ro - cgroup2 cgroup rw\n", NULL, &p),
			 -EXDEV);
}

static void up_and_down_again(void **state)
{
	struct cgroup_paths top = { .name = "/", .root = "/", .mount = "/cg" }, p, q;

	(void)state;
	assert_int_equal(cgroup_paths_resolve(&top), 0);
	assert_int_equal(cgroup_paths_child(&p, &top, "a"), 0);
	assert_int_equal(cgroup_paths_child(&q, &p, "b"), 0);
	assert_string_equal(q.dir, "/cg/a/b");
	assert_string_equal(q.name, "/a/b");
	assert_string_equal(cgroup_paths_leaf(&q), "b");
	assert_int_equal(cgroup_paths_up(&q), 0);
	assert_string_equal(q.name, "/a");
	assert_int_equal(cgroup_paths_up(&q), 0);
	assert_string_equal(q.name, "/");
	assert_string_equal(q.dir, "/cg");
	assert_int_equal(cgroup_paths_up(&q), -ENOENT);

	strcpy(p.root, "/a"); /* the mount's root is as far as it goes */
	assert_int_equal(cgroup_paths_up(&p), -ENOENT);
	assert_int_equal(cgroup_paths_level("/"), 0);
	assert_int_equal(cgroup_paths_level("/a"), 1);
	assert_int_equal(cgroup_paths_level("/a/b.slice/c"), 3);
}

static void a_cpu_cap_becomes_a_quota_that_the_kernel_takes(void **state)
{
	static const struct {
		uint64_t millicores, quota, period;
	} rows[] = { { 1, 1000, 1000000 },
		     { 9, 9000, 1000000 },
		     { 10, 1000, 100000 },
		     { 500, 50000, 100000 },
		     { 16000, 1600000, 100000 } };
	uint64_t quota, period;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cgroup_limits_cpu_quota(rows[i].millicores, &quota, &period);
		assert_int_equal(quota, rows[i].quota);
		assert_int_equal(period, rows[i].period);
	}
}

static void cpu_max_is_read_or_refused(void **state)
{
	static const char *const bad[] = { "",	       "50000", "50000 0",
					   "x 100000", "1 2 3", "99999999999999999999 1" };
	uint64_t millicores = 7;

	(void)state;
	assert_int_equal(cgroup_limits_parse_cpu("max 100000", &millicores), 0);
	assert_true(millicores == CGROUP_LOST);
	assert_int_equal(cgroup_limits_parse_cpu("50000 100000", &millicores), 0);
	assert_int_equal(millicores, 500);
	assert_int_equal(cgroup_limits_parse_cpu("1000 1000000", &millicores), 0);
	assert_int_equal(millicores, 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(cgroup_limits_parse_cpu(bad[i], &millicores), -EINVAL);
}

static void the_slice_is_one_that_the_system_manager_knows(void **state)
{
	static const struct {
		const char *name, *slice;
	} rows[] = {
		{ "/", "system.slice" },
		{ "/init.scope", "system.slice" },
		{ "/system.slice/ssh.service", "system.slice" },
		{ "/user.slice/user-1000.slice/session-2.scope", "user-1000.slice" },
		{ "/user.slice/user-0.slice/user@0.service/app.slice/x.scope", "user-0.slice" },
		{ "/machine.slice", "machine.slice" },
		{ "/.slice/x", "system.slice" },
	};
	char slice[CGROUP_PATH_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cgroup_scope_slice(rows[i].name, slice);
		assert_string_equal(slice, rows[i].slice);
	}
}

static void the_lower_of_two_limits_counts_and_none_is_no_limit(void **state)
{
	struct cgroup_limits a = { 100, CGROUP_NOT_ASKED, 5, CGROUP_NOT_ASKED };
	const struct cgroup_limits b = { CGROUP_LOST, 0, 7, CGROUP_NOT_ASKED };

	(void)state;
	cgroup_limits_lower(&a, &b);
	assert_int_equal(a.memory_bytes, 100);
	assert_int_equal(a.swap_bytes, 0);
	assert_int_equal(a.pids, 5);
	assert_true(a.cpu_millicores == CGROUP_NOT_ASKED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_group_of_each_hierarchy_is_found),
		cmocka_unit_test(a_name_that_does_not_fit_is_refused),
		cmocka_unit_test(the_mount_of_a_hierarchy_gives_the_directory),
		cmocka_unit_test(a_mount_of_a_part_shows_that_part_only),
		cmocka_unit_test(up_and_down_again),
		cmocka_unit_test(a_cpu_cap_becomes_a_quota_that_the_kernel_takes),
		cmocka_unit_test(cpu_max_is_read_or_refused),
		cmocka_unit_test(the_slice_is_one_that_the_system_manager_knows),
		cmocka_unit_test(the_lower_of_two_limits_counts_and_none_is_no_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
