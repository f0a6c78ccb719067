/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 60 */
/* Private tmpfs: the cap holds however it is filled, what should stay visible does, all goes with the namespace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "kern/mounts.h"

#define MIB (1ULL << 20)
#define CAP (16 * MIB)
#define UID 65534

/* A child in the mounts that `opts` asks for; what it returns, negative errno with words when those fail. */
static int inside(const struct mounts_opts *opts, int (*fn)(const char *), const char *arg)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		char what[MOUNTS_WHAT] = "";
		int r = mounts_apply(opts, what);

		if (r < 0) {
			print_error("%s: %s\n", what, strerror(-r));
			_exit(125);
		}
		_exit(fn(arg));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Reports from a child: cmocka's own assertions would end the wrong process. */
#define CHECK(holds)                                                                          \
	do {                                                                                  \
		if (!(holds)) {                                                               \
			print_error("line %d: %s (%s)\n", __LINE__, #holds, strerror(errno)); \
			return 1;                                                             \
		}                                                                             \
	} while (0)

/* Bytes that fit into `fd` before an error, which is left in errno. */
static uint64_t fill(int fd)
{
	char block[65536];
	uint64_t total = 0;
	ssize_t n;

	memset(block, 'x', sizeof(block));
	while (total < 4 * CAP && (n = write(fd, block, sizeof(block))) > 0)
		total += (uint64_t)n;
	return total;
}

static int open_in(const char *dir, const char *name, int flags)
{
	int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = openat(at, name, flags | O_CLOEXEC, 0600);

	close(at);
	return fd;
}

static bool exists(const char *dir, const char *name)
{
	int fd = open_in(dir, name, O_PATH);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool make(const char *dir, const char *name)
{
	int fd = open_in(dir, name, O_WRONLY | O_CREAT);

	return fd >= 0 && close(fd) == 0;
}

static uint64_t fill_at(const char *dir, const char *name)
{
	int fd = open_in(dir, name, O_WRONLY | O_CREAT);

	return fd < 0 ? 0 : fill(fd);
}

static void discard(const char *dir)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static char *fresh_dir(char template[])
{
	assert_non_null(mkdtemp(template));
	assert_int_equal(chmod(template, 0755), 0);
	return template;
}

/* ---- the cap ----------------------------------------------------------------------------------------- */
static int plain_file(const char *dir)
{
	uint64_t got = fill_at(dir, "file");

	CHECK(errno == ENOSPC);
	CHECK(got <= CAP && got >= CAP - 256 * 1024);
	return 0;
}

static int deleted_but_open(const char *dir)
{
	char path[64];
	int fd = open_in(dir, "gone", O_WRONLY | O_CREAT);

	snprintf(path, sizeof(path), "%s/gone", dir);
	CHECK(fd >= 0 && unlink(path) == 0);
	CHECK(fill(fd) <= CAP && errno == ENOSPC);
	CHECK(fill_at(dir, "another") < 256 * 1024);
	close(fd);
	CHECK(fill_at(dir, "after") > CAP / 2);
	return 0;
}

static int unnamed_file(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK(fill(fd) <= CAP && errno == ENOSPC);
	return 0;
}

static int sparse_then_filled(const char *dir)
{
	struct stat st;
	int fd = open_in(dir, "sparse", O_RDWR | O_CREAT);

	CHECK(fd >= 0 && ftruncate(fd, 8 * CAP) == 0);
	fill(fd);
	CHECK(errno == ENOSPC);
	CHECK(fstat(fd, &st) == 0 && (uint64_t)st.st_blocks * 512 <= CAP);
	errno = 0;
	CHECK(fallocate(fd, 0, 0, 8 * CAP) < 0 && errno == ENOSPC);
	return 0;
}

/* Empty files take no page: their number is what ends it. */
static int many_empty_files(const char *dir)
{
	char name[24];
	uint64_t made = 0;

	for (; made < CAP / 512; made++) {
		snprintf(name, sizeof(name), "%llu", (unsigned long long)made);
		if (!make(dir, name))
			break;
	}
	CHECK(errno == ENOSPC);
	CHECK(made > 1000 && made <= CAP / 1024);
	return 0;
}

static void the_cap_holds_however_it_is_filled(void **state)
{
	static int (*const ways[])(const char *) = { plain_file, deleted_but_open, unnamed_file,
						     sparse_then_filled, many_empty_files };
	char dir[] = "/tmp/mounts-XXXXXX";
	struct mounts_opts opts = { .workdir = fresh_dir(dir), .bytes = CAP };

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		assert_int_equal(inside(&opts, ways[i], dir), 0);
	rmdir(dir);
}

static int fills_four_places(const char *dir)
{
	uint64_t total = fill_at("/tmp", "a") + fill_at("/var/tmp", "b") +
			 fill_at("/dev/shm", "c") + fill_at(dir, "d");

	CHECK(total <= CAP && total > CAP / 2);
	return 0;
}

static void one_cap_bounds_all_private_places_together(void **state)
{
	char dir[] = "/run/mounts-XXXXXX";
	struct mounts_opts opts = { .workdir = fresh_dir(dir), .private_tmp = true, .bytes = CAP };

	(void)state;
	assert_int_equal(inside(&opts, fills_four_places, dir), 0);
	rmdir(dir);
}

/* ---- what is where ------------------------------------------------------------------------------------- */
static int is_ours_and_empty(const char *dir)
{
	struct stat st;
	struct statvfs fs;

	CHECK(stat(dir, &st) == 0);
	CHECK((st.st_mode & 07777) == 0700 && st.st_uid == UID && st.st_gid == UID);
	CHECK(statvfs(dir, &fs) == 0 &&
	      (fs.f_flag & (ST_NOSUID | ST_NODEV)) == (ST_NOSUID | ST_NODEV));
	CHECK(setresgid(UID, UID, UID) == 0 && setresuid(UID, UID, UID) == 0);
	CHECK(fill_at(dir, "mine") > 0);
	return 0;
}

static void the_working_directory_belongs_to_the_run_user_and_vanishes(void **state)
{
	char dir[] = "/tmp/mounts-XXXXXX";
	struct mounts_opts opts = {
		.workdir = fresh_dir(dir), .bytes = CAP, .uid = UID, .gid = UID
	};

	(void)state;
	assert_int_equal(inside(&opts, is_ours_and_empty, dir), 0);
	assert_false(exists(dir, "mine"));
	assert_int_equal(rmdir(dir), 0);
}

static int sees_only_what_was_kept(const char *dir)
{
	struct stat st;

	CHECK(!exists("/tmp", "mounts-hidden"));
	CHECK(stat("/tmp", &st) == 0 && (st.st_mode & 07777) == 01777);
	CHECK(stat("/var/tmp", &st) == 0 && (st.st_mode & 07777) == 01777);
	CHECK(stat("/dev/shm", &st) == 0 && (st.st_mode & 07777) == 01777);
	CHECK(exists(dir, "a/b/file"));
	CHECK(!exists(dir, "neighbour"));
	CHECK(exists(dir, "single"));
	/* Writes to what was kept are real, others are not. */
	CHECK(make(dir, "a/b/written"));
	CHECK(make("/tmp", "mounts-private"));
	return 0;
}

static int reaches_what_was_kept(const char *dir)
{
	CHECK(setresgid(UID, UID, UID) == 0 && setresuid(UID, UID, UID) == 0);
	CHECK(exists(dir, "file"));
	return 0;
}

static void another_user_reaches_them_whatever_the_umask(void **state)
{
	char dir[] = "/tmp/mounts-XXXXXX", deep[64];
	struct mounts_opts opts = { .private_tmp = true, .bytes = CAP, .keep = { deep } };
	mode_t before;

	(void)state;
	snprintf(deep, sizeof(deep), "%s/a", fresh_dir(dir));
	assert_int_equal(mkdir(deep, 0755), 0);
	assert_true(make(deep, "file"));
	before = umask(077);
	assert_int_equal(inside(&opts, reaches_what_was_kept, deep), 0);
	umask(before);
	discard(dir);
}

static void named_paths_below_tmp_stay_visible_and_nothing_else_does(void **state)
{
	char dir[] = "/tmp/mounts-XXXXXX", deep[64], single[64];
	struct mounts_opts opts = { .private_tmp = true,
				    .bytes = CAP,
				    .keep = { deep, single, "/etc" } };

	(void)state;
	fresh_dir(dir);
	snprintf(single, sizeof(single), "%s/single", dir);
	snprintf(deep, sizeof(deep), "%s/a", dir);
	assert_int_equal(mkdir(deep, 0755), 0);
	snprintf(deep, sizeof(deep), "%s/a/b", dir);
	assert_int_equal(mkdir(deep, 0755), 0);
	assert_true(make(deep, "file") && make(dir, "neighbour") && make(dir, "single"));
	assert_true(make("/tmp", "mounts-hidden"));

	assert_int_equal(inside(&opts, sees_only_what_was_kept, dir), 0);
	assert_true(exists(deep, "written"));
	assert_false(exists("/tmp", "mounts-private"));
	unlink("/tmp/mounts-hidden");
	discard(dir);
}

static int works_below_tmp(const char *dir)
{
	char path[PATH_MAX];

	CHECK(getcwd(path, sizeof(path)) && !strcmp(path, dir));
	CHECK(exists(".", "kept"));
	CHECK(fill_at("new", "x") > 0);
	return 0;
}

/* The working directory below /tmp, kept, and a fresh one inside it. */
static void a_fresh_directory_inside_a_kept_one_works(void **state)
{
	char dir[] = "/tmp/mounts-XXXXXX", fresh[64], old[PATH_MAX];
	struct mounts_opts opts = {
		.private_tmp = true, .bytes = CAP, .workdir = fresh, .keep = { dir }
	};

	(void)state;
	fresh_dir(dir);
	snprintf(fresh, sizeof(fresh), "%s/new", dir);
	assert_int_equal(mkdir(fresh, 0755), 0);
	assert_true(make(dir, "kept"));
	assert_non_null(getcwd(old, sizeof(old)));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(inside(&opts, works_below_tmp, dir), 0);
	assert_int_equal(chdir(old), 0);
	assert_int_equal(rmdir(fresh), 0); /* nothing was written below the cover */
	discard(dir);
}

static int is_outside(const char *dir)
{
	char path[PATH_MAX];

	CHECK(getcwd(path, sizeof(path)));
	CHECK(strcmp(path, dir) != 0 && path[0] == '/');
	CHECK(!exists(".", "secret"));
	return 0;
}

static void the_old_directory_is_no_way_under_the_cover(void **state)
{
	char dir[] = "/tmp/mounts-XXXXXX", old[PATH_MAX];
	struct mounts_opts opts = { .private_tmp = true, .bytes = CAP };

	(void)state;
	fresh_dir(dir);
	assert_true(make(dir, "secret"));
	assert_non_null(getcwd(old, sizeof(old)));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(inside(&opts, is_outside, dir), 0);
	assert_int_equal(chdir(old), 0);
	discard(dir);
}

static unsigned int count_mounts(void)
{
	char line[4096];
	unsigned int n = 0;
	FILE *f = fopen("/proc/self/mountinfo", "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n++;
	fclose(f);
	return n;
}

static int mounts_more(const char *dir)
{
	(void)dir;
	return count_mounts() > 3 ? 0 : 1;
}

static void everything_vanishes_with_the_namespace(void **state)
{
	struct mounts_opts opts = { .private_tmp = true, .bytes = CAP };
	unsigned int before = count_mounts();

	(void)state;
	for (int i = 0; i < 20; i++)
		assert_int_equal(inside(&opts, mounts_more, NULL), 0);
	assert_int_equal(count_mounts(), before);
}

static void a_step_that_fails_is_named(void **state)
{
	struct mounts_opts opts = { .workdir = "/no/such/directory", .bytes = CAP };
	int status = 0;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		char what[MOUNTS_WHAT] = "";

		_exit(mounts_apply(&opts, what) == -ENOENT && strstr(what, "/no/such/directory")
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* ---- project quota --------------------------------------------------------------------------------------- */
static void an_existing_directory_without_quota_is_refused_in_words(void **state)
{
	char dir[] = "/tmp/mounts-XXXXXX";
	struct err err;

	(void)state;
	fresh_dir(dir);
	assert_int_equal(mounts_project_quota(dir, CAP, true, &err), -EOPNOTSUPP);
	assert_int_equal(err.category, ERR_CANNOT_ENFORCE);
	assert_string_equal(err.capability, "disk_cap");
	assert_non_null(strstr(err.text, dir));
	assert_non_null(strstr(err.text, "--workdir new"));
	rmdir(dir);
	assert_int_equal(mounts_project_quota(dir, CAP, true, &err), -ENOENT);
}

/* An ext4 image with project quota, where the host has loop devices and the tools. */
static int with_quota(const char *dir)
{
	char command[1024];
	struct err err;

	snprintf(command, sizeof(command),
		 "cd %s && exec 2>&1 >/dev/null && truncate -s 64M image && "
		 "mke2fs -q -F -t ext4 -O quota,project -E quotatype=prjquota image && mkdir -p m "
		 "&& "
		 "mount -o loop,prjquota image m && mkdir m/d && chattr +P -p 77 m/d && "
		 "setquota -P 77 0 8192 0 0 m",
		 dir);
	if (system(command) != 0)
		return 77;
	snprintf(command, sizeof(command), "%s/m/d", dir);
	CHECK(mounts_project_quota(command, CAP, true, &err) == 0);
	CHECK(mounts_project_quota(command, CAP, false, &err) == -EOPNOTSUPP);
	CHECK(strstr(err.text, "leave it"));
	CHECK(mounts_project_quota(command, CAP / 4, true, &err) == -EOPNOTSUPP);
	CHECK(strstr(err.text, "8 MiB"));
	snprintf(command, sizeof(command), "%s/m", dir);
	CHECK(mounts_project_quota(command, CAP, true, &err) == -EOPNOTSUPP);
	CHECK(strstr(err.text, "no project"));
	return 0;
}

static void a_project_quota_counts_only_when_it_holds(void **state)
{
	char dir[] = "/tmp/mounts-XXXXXX";
	struct mounts_opts opts = { .private_tmp = false };
	int r;

	(void)state;
	fresh_dir(dir);
	r = inside(&opts, with_quota, dir);
	discard(dir);
	if (r == 77) {
		print_message(
			"skipped: no loop-mounted ext4 with project quota can be made here\n");
		skip();
	}
	assert_int_equal(r, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cap_holds_however_it_is_filled),
		cmocka_unit_test(one_cap_bounds_all_private_places_together),
		cmocka_unit_test(the_working_directory_belongs_to_the_run_user_and_vanishes),
		cmocka_unit_test(named_paths_below_tmp_stay_visible_and_nothing_else_does),
		cmocka_unit_test(another_user_reaches_them_whatever_the_umask),
		cmocka_unit_test(a_fresh_directory_inside_a_kept_one_works),
		cmocka_unit_test(the_old_directory_is_no_way_under_the_cover),
		cmocka_unit_test(everything_vanishes_with_the_namespace),
		cmocka_unit_test(a_step_that_fails_is_named),
		cmocka_unit_test(an_existing_directory_without_quota_is_refused_in_words),
		cmocka_unit_test(a_project_quota_counts_only_when_it_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
