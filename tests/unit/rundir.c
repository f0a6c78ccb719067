/* SPDX-License-Identifier: Apache-2.0 */
/* Directories of runs, in a top directory of the test's own. No root. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "run/meta.h"
#include "run/rundir.h"

#define ID "abcdefghi2"

static char top[] = "/tmp/sbx-rundir.XXXXXX";

static int make_top(void **state)
{
	(void)state;
	strcpy(top + strlen(top) - 6, "XXXXXX");
	if (!mkdtemp(top) || chmod(top, 0711))
		return -1;
	return setenv("SBX_RUN_DIR", top, 1);
}

static int remove_top(void **state)
{
	(void)state;
	return io_remove_tree(AT_FDCWD, top);
}

static mode_t mode_of(const char *format, ...)
{
	char path[512];
	struct stat st;
	va_list args;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return lstat(path, &st) ? 0 : st.st_mode & 07777;
}

static void must_create(struct rundir *d, const char *id)
{
	struct err err = { 0 };

	if (rundir_create(d, id, 0, 0, &err))
		fail_msg("%s", err.text);
}

/* A run that ended so many seconds ago. */
static void make_ended(const char *id, int age_s)
{
	struct timespec times[2] = { { .tv_sec = time(NULL) - age_s },
				     { .tv_sec = time(NULL) - age_s } };
	json_t *json = json_object();
	struct rundir d;

	must_create(&d, id);
	assert_int_equal(rundir_write_json(&d, "result.json", json, NULL), 0);
	assert_int_equal(utimensat(d.fd, "result.json", times, 0), 0);
	rundir_close(&d);
	json_decref(json);
}

static bool exists(const char *id)
{
	struct rundir d;
	int rc = rundir_open(&d, id, NULL);

	rundir_close(&d);
	return rc == 0;
}

static void others_may_pass_and_not_list(void **state)
{
	mode_t mask = umask(077);
	struct rundir d;

	(void)state;
	must_create(&d, ID);
	umask(mask);
	assert_int_equal(mode_of("%s", d.path), 0711);
	assert_int_equal(rundir_create_file(&d, "stdout.spill", NULL) >= 0, 1);
	assert_int_equal(mode_of("%s/stdout.spill", d.path), 0600);
	rundir_close(&d);
}

static void a_top_of_another_mode_is_put_right(void **state)
{
	struct rundir d;

	(void)state;
	assert_int_equal(chmod(top, 0755), 0);
	must_create(&d, ID);
	assert_int_equal(mode_of("%s", top), 0711);
	rundir_close(&d);
}

static void a_top_that_others_can_change_is_refused(void **state)
{
	struct err err = { 0 };
	struct rundir d;

	(void)state;
	assert_int_equal(chmod(top, 0733), 0);
	assert_int_equal(rundir_create(&d, ID, 0, 0, &err), -EPERM);
	assert_non_null(strstr(err.text, "0711"));
	assert_int_equal(mode_of("%s/" ID, top), 0);
}

static void an_id_is_made_once(void **state)
{
	struct err err = { 0 };
	struct rundir first, second;

	(void)state;
	must_create(&first, ID);
	assert_int_equal(rundir_create(&second, ID, 0, 0, &err), -EEXIST);
	assert_int_equal(second.fd, -1);
	rundir_close(&first);
}

static void what_is_not_an_id_is_no_run(void **state)
{
	static const char *const bad[] = {
		"",	      "work",	     "..",	   "../../etc",
		"ABCDEFGHIJ", "abcdefghij2", "abcdefghi1", "abc/efghij"
	};
	struct rundir d;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(rundir_create(&d, bad[i], 0, 0, NULL), -EINVAL);
		assert_int_equal(rundir_open(&d, bad[i], NULL), -EINVAL);
	}
}

static void a_run_is_live_as_long_as_its_keeper_holds_it(void **state)
{
	json_t *json = json_object();
	struct rundir keeper, other;

	(void)state;
	must_create(&keeper, ID);
	assert_int_equal(rundir_open(&other, ID, NULL), 0);
	assert_int_equal(rundir_state(&other), RUNDIR_LIVE);
	assert_int_equal(rundir_write_json(&keeper, "meta.json", json, NULL), 0);
	assert_int_equal(rundir_state(&other), RUNDIR_LIVE);
	rundir_close(&keeper);
	assert_int_equal(rundir_state(&other), RUNDIR_DEAD);
	assert_int_equal(rundir_write_json(&other, "result.json", json, NULL), 0);
	assert_int_equal(rundir_state(&other), RUNDIR_ENDED);
	rundir_close(&other);
	json_decref(json);
}

static void a_keeper_that_is_killed_lets_go(void **state)
{
	struct rundir d;
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0) {
		json_t *json = json_object();
		bool made = !rundir_create(&d, ID, 0, 0, NULL) &&
			    !rundir_write_json(&d, "meta.json", json, NULL);

		raise(made ? 9 : 6);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), 9);
	assert_int_equal(rundir_open(&d, ID, NULL), 0);
	assert_int_equal(rundir_state(&d), RUNDIR_DEAD);
	rundir_close(&d);
}

static void a_directory_without_a_record_is_dead_only_after_a_while(void **state)
{
	struct timespec old[2] = { { .tv_sec = time(NULL) - 60 }, { .tv_sec = time(NULL) - 60 } };
	struct rundir d;

	(void)state;
	must_create(&d, ID);
	rundir_close(&d);
	assert_int_equal(rundir_open(&d, ID, NULL), 0);
	assert_int_equal(rundir_state(&d), RUNDIR_MAKING);
	assert_int_equal(futimens(d.fd, old), 0);
	assert_int_equal(rundir_state(&d), RUNDIR_DEAD);
	rundir_close(&d);
}

static void json_survives_the_way_to_disk_and_back(void **state)
{
	json_t *json = json_pack("{s:s%, s:i}", "text", "a\0b", (size_t)3, "n", 7), *got;
	struct err err = { 0 };
	struct rundir d;

	(void)state;
	must_create(&d, ID);
	assert_int_equal(rundir_write_json(&d, "result.json", json, NULL), 0);
	got = rundir_read_json(&d, "result.json", &err);
	assert_true(json_equal(json, got));
	json_decref(got);
	json_decref(json);
	assert_null(rundir_read_json(&d, "meta.json", &err));
	assert_int_equal(err.category, ERR_NOT_FOUND);
	rundir_close(&d);
}

static void a_file_that_is_no_json_or_no_file_is_an_error(void **state)
{
	struct err err = { 0 };
	struct rundir d;
	int fd;

	(void)state;
	must_create(&d, ID);
	fd = rundir_create_file(&d, "result.json", NULL);
	assert_int_equal(write(fd, "{\"a\":1,\"a\":2}", 13), 13);
	close(fd);
	assert_null(rundir_read_json(&d, "result.json", &err));
	assert_int_equal(err.code, -EBADMSG);
	unlinkat(d.fd, "result.json", 0);
	assert_int_equal(symlinkat("/etc/passwd", d.fd, "result.json"), 0);
	assert_null(rundir_read_json(&d, "result.json", &err));
	assert_int_equal(err.code, -ELOOP);
	unlinkat(d.fd, "result.json", 0);
	assert_int_equal(mkfifoat(d.fd, "result.json", 0600), 0);
	assert_null(rundir_read_json(&d, "result.json", &err));
	assert_int_equal(err.code, -EINVAL);
	rundir_close(&d);
}

static void pruning_takes_the_old_and_leaves_the_rest(void **state)
{
	struct rundir live;

	(void)state;
	make_ended("aaaaaaaaa2", 25 * 3600);
	make_ended("aaaaaaaaa3", 23 * 3600);
	must_create(&live, "aaaaaaaaa4");
	rundir_prune();
	assert_false(exists("aaaaaaaaa2"));
	assert_true(exists("aaaaaaaaa3"));
	assert_true(exists("aaaaaaaaa4"));
	rundir_close(&live);
}

static void pruning_keeps_the_newest_thousand(void **state)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	char id[] = "bbbbbbbbbb";

	(void)state;
	for (int i = 0; i < RUNDIR_KEEP_COUNT + 3; i++) {
		id[8] = digits[i / 32];
		id[9] = digits[i % 32];
		make_ended(id, 3000 - i);
	}
	rundir_prune();
	assert_false(exists("bbbbbbbbaa"));
	assert_false(exists("bbbbbbbbac"));
	assert_true(exists("bbbbbbbbad"));
	assert_true(exists(id));
}

static void removing_takes_everything(void **state)
{
	struct rundir d;

	(void)state;
	must_create(&d, ID);
	assert_int_equal(rundir_create_file(&d, "stdout.spill", NULL) >= 0, 1);
	assert_int_equal(rundir_remove(&d), 0);
	assert_false(exists(ID));
}

static int count_one(void *arg, struct rundir *d, enum rundir_state run_state)
{
	(void)d;
	(void)run_state;
	++*(int *)arg;
	return 0;
}

static void a_walk_sees_runs_and_nothing_else(void **state)
{
	int seen = 0, dir = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	make_ended("aaaaaaaaa2", 0);
	assert_int_equal(mkdirat(dir, "work", 0700), 0);
	assert_int_equal(symlinkat("aaaaaaaaa2", dir, "aaaaaaaaa3"), 0);
	assert_int_equal(mkfifoat(dir, "aaaaaaaaa4", 0600), 0);
	close(dir);
	assert_int_equal(rundir_each(count_one, &seen), 0);
	assert_int_equal(seen, 1);
}

static void meta_keeps_what_a_sweep_needs(void **state)
{
	const struct meta_facts facts = { 77, "hybrid", "/sys/fs/cgroup/x", 12345 };
	char *argv[] = { (char *)"echo", (char *)"a b", NULL };
	struct result r;
	struct rundir d;
	struct spec spec;
	struct meta m;
	char line[64];

	(void)state;
	spec_init(&spec);
	spec.argv = argv;
	spec.argc = 2;
	result_init(&r);
	r.spec = &spec;
	must_create(&d, ID);
	assert_int_equal(meta_write(&d, &r, &facts, NULL), 0);
	assert_int_equal(meta_read(&m, &d, NULL), 0);
	assert_true(m.this_boot);
	assert_int_equal(m.root_pid, 77);
	assert_int_equal(m.keeper_pid, getpid());
	assert_int_equal(m.cgroup_id, 12345);
	assert_string_equal(m.cgroup_path, "/sys/fs/cgroup/x");
	assert_true(json_is_object(m.result));
	meta_command(json_object_get(m.json, "argv"), line, sizeof(line));
	assert_string_equal(line, "echo a b");
	meta_command(json_object_get(m.json, "argv"), line, 6);
	assert_string_equal(line, "echo ");
	meta_done(&m);
	rundir_close(&d);
	spec.argv = NULL;
	spec.argc = 0;
	spec_done(&spec);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_top, remove_top)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(others_may_pass_and_not_list),
		TEST(a_top_of_another_mode_is_put_right),
		TEST(a_top_that_others_can_change_is_refused),
		TEST(an_id_is_made_once),
		TEST(what_is_not_an_id_is_no_run),
		TEST(a_run_is_live_as_long_as_its_keeper_holds_it),
		TEST(a_keeper_that_is_killed_lets_go),
		TEST(a_directory_without_a_record_is_dead_only_after_a_while),
		TEST(json_survives_the_way_to_disk_and_back),
		TEST(a_file_that_is_no_json_or_no_file_is_an_error),
		TEST(pruning_takes_the_old_and_leaves_the_rest),
		TEST(pruning_keeps_the_newest_thousand),
		TEST(removing_takes_everything),
		TEST(a_walk_sees_runs_and_nothing_else),
		TEST(meta_keeps_what_a_sweep_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
