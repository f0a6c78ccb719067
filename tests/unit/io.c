/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "base/own.h"

/* A directory of the test's own, open; removed by the code under test or left to the suite. */
struct place {
	char path[256];
	int fd;
};

static int setup(void **state)
{
	const char *top = getenv("TEST_TMP");
	struct place *place = calloc(1, sizeof(*place));

	*state = place;
	if (!place)
		return -1;
	snprintf(place->path, sizeof(place->path), "%s/sbx-io-XXXXXX", top ? top : "/tmp");
	if (!mkdtemp(place->path))
		return -1;
	place->fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return place->fd < 0;
}

static int teardown(void **state)
{
	struct place *place = *state;
	int r = io_remove_tree(AT_FDCWD, place->path);

	close(place->fd);
	free(place);
	return r;
}

static void make_file(int dirfd, const char *name, const char *text)
{
	own_fd fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
}

static bool exists(int dirfd, const char *name)
{
	struct stat st;

	return !fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW);
}

static void small_files_come_back_whole_or_not_at_all(void **state)
{
	struct place *place = *state;
	char text[6];

	make_file(place->fd, "f", "hello\n");
	assert_int_equal(io_read_file(place->fd, "f", text, 6), -EFBIG);
	make_file(place->fd, "g", "four\n");
	assert_int_equal(io_read_file(place->fd, "g", text, 6), 4);
	assert_string_equal(text, "four");
	make_file(place->fd, "empty", "");
	assert_int_equal(io_read_file(place->fd, "empty", text, 6), 0);
	assert_string_equal(text, "");
	assert_int_equal(io_read_file(place->fd, "none", text, 6), -ENOENT);
	assert_int_equal(io_read_file(AT_FDCWD, place->path, text, 6), -EISDIR);
}

static void numbers_in_files_are_whole_or_max(void **state)
{
	struct place *place = *state;
	uint64_t value = 0;

	make_file(place->fd, "n", "4096\n");
	make_file(place->fd, "max", "max\n");
	make_file(place->fd, "two", "1 2\n");
	assert_int_equal(io_read_u64(place->fd, "n", &value), 0);
	assert_int_equal(value, 4096);
	assert_int_equal(io_read_u64(place->fd, "max", &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(io_read_u64(place->fd, "two", &value), -EINVAL);
	assert_int_equal(io_read_u64(place->fd, "none", &value), -ENOENT);
}

static void writing_never_makes_a_file(void **state)
{
	struct place *place = *state;
	char text[8];

	assert_int_equal(io_write_file(place->fd, "f", "1"), -ENOENT);
	make_file(place->fd, "f", "");
	assert_int_equal(io_write_file(place->fd, "f", "1"), 0);
	assert_int_equal(io_read_file(place->fd, "f", text, sizeof(text)), 1);
}

static void a_replaced_file_is_new_whole_and_private(void **state)
{
	struct place *place = *state;
	struct stat st;
	char text[8];

	make_file(place->fd, "r", "old");
	assert_int_equal(io_replace_file(place->fd, "r", "new", 3, 0, NULL), 0);
	assert_int_equal(io_read_file(place->fd, "r", text, sizeof(text)), 3);
	assert_string_equal(text, "new");
	assert_int_equal(fstatat(place->fd, "r", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(io_replace_file(place->fd, "r", "x", 1, 0644, NULL), 0);
	assert_int_equal(fstatat(place->fd, "r", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(st.st_size, 1);
}

static void a_failed_replacement_leaves_nothing_behind(void **state)
{
	struct place *place = *state;
	struct err err;

	assert_int_equal(mkdirat(place->fd, "d", 0755), 0);
	assert_int_equal(io_replace_file(place->fd, "d", "x", 1, 0, &err), -EEXIST);
	assert_non_null(strstr(err.text, "'d'"));
	assert_int_equal(unlinkat(place->fd, "d", AT_REMOVEDIR), 0);
	assert_int_equal(rmdir(place->path), 0);
	assert_int_equal(mkdir(place->path, 0700), 0);
}

static void a_pipe_does_not_turn_into_a_file(void **state)
{
	struct place *place = *state;
	struct stat st;

	assert_int_equal(mkfifoat(place->fd, "p", 0600), 0);
	assert_int_equal(io_replace_file(place->fd, "p", "x", 1, 0, NULL), -EEXIST);
	assert_int_equal(fstatat(place->fd, "p", &st, 0), 0);
	assert_true(S_ISFIFO(st.st_mode));
}

static void a_link_planted_under_the_new_name_is_not_followed(void **state)
{
	struct place *place = *state;
	char planted[64], text[8];

	make_file(place->fd, "victim", "safe");
	snprintf(planted, sizeof(planted), ".r.%d", (int)getpid());
	assert_int_equal(symlinkat("victim", place->fd, planted), 0);
	assert_int_equal(io_replace_file(place->fd, "r", "new", 3, 0, NULL), 0);
	assert_int_equal(io_read_file(place->fd, "victim", text, sizeof(text)), 4);
	assert_string_equal(text, "safe");
	assert_int_equal(io_read_file(place->fd, "r", text, sizeof(text)), 3);
}

static void directories_are_made_with_their_parents(void **state)
{
	struct place *place = *state;
	char path[512];
	struct err err;

	snprintf(path, sizeof(path), "%s//a/b/c/", place->path);
	assert_int_equal(io_mkdir_p(path, 0755, NULL), 0);
	assert_int_equal(io_mkdir_p(path, 0755, NULL), 0);
	assert_true(exists(place->fd, "a/b/c"));
	make_file(place->fd, "f", "");
	snprintf(path, sizeof(path), "%s/f/g", place->path);
	assert_int_equal(io_mkdir_p(path, 0755, &err), -ENOTDIR);
	assert_int_equal(io_mkdir_p("relative", 0755, &err), -EINVAL);
	assert_int_equal(io_mkdir_p("", 0755, &err), -EINVAL);
}

static void a_write_to_a_full_pipe_waits_for_the_reader(void **state)
{
	char block[4096] = "";
	size_t total = 0;
	int pair[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(pair, O_CLOEXEC | O_NONBLOCK), 0);
	pid = fork();
	if (!pid) {
		int r = 0;

		close(pair[0]);
		for (int i = 0; i < 100 && !r; i++)
			r = io_write_all(pair[1], block, sizeof(block));
		_exit(r ? 1 : 0);
	}
	close(pair[1]);
	for (;;) {
		ssize_t n = read(pair[0], block, sizeof(block));

		if (!n)
			break;
		if (n < 0)
			usleep(1000);
		else
			total += (size_t)n;
	}
	close(pair[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(total, 100 * sizeof(block));
}

static void removing_what_is_not_there_is_done_already(void **state)
{
	struct place *place = *state;

	assert_int_equal(io_remove_tree(place->fd, "none"), 0);
	assert_int_equal(io_remove_tree(AT_FDCWD, "/nonexistent/none"), 0);
	make_file(place->fd, "f", "");
	assert_int_equal(io_remove_tree(place->fd, "f"), 0);
	assert_false(exists(place->fd, "f"));
}

static void a_removed_tree_takes_no_link_target_with_it(void **state)
{
	struct place *place = *state;

	assert_int_equal(mkdirat(place->fd, "keep", 0755), 0);
	make_file(place->fd, "keep/file", "");
	assert_int_equal(mkdirat(place->fd, "t", 0755), 0);
	assert_int_equal(mkdirat(place->fd, "t/sub", 0755), 0);
	assert_int_equal(symlinkat("../keep", place->fd, "t/dir"), 0);
	assert_int_equal(symlinkat("../../keep", place->fd, "t/sub/dir"), 0);
	assert_int_equal(symlinkat("t", place->fd, "top"), 0);
	assert_int_equal(io_remove_tree(place->fd, "top"), 0);
	assert_true(exists(place->fd, "t/sub"));
	assert_int_equal(io_remove_tree(place->fd, "t"), 0);
	assert_false(exists(place->fd, "t"));
	assert_true(exists(place->fd, "keep/file"));
}

static void closed_directories_do_not_stand_in_the_way(void **state)
{
	struct place *place = *state;

	assert_int_equal(mkdirat(place->fd, "t", 0755), 0);
	assert_int_equal(mkdirat(place->fd, "t/a", 0755), 0);
	assert_int_equal(mkdirat(place->fd, "t/a/b", 0755), 0);
	assert_int_equal(mkdirat(place->fd, "t/a/b/c", 0755), 0);
	make_file(place->fd, "t/a/b/c/f", "");
	for (const char *const *name =
		     (const char *const[]){ "t/a/b/c", "t/a/b", "t/a", "t", NULL };
	     *name; name++)
		assert_int_equal(fchmodat(place->fd, *name, 0, 0), 0);
	assert_int_equal(io_remove_tree(place->fd, "t"), 0);
	assert_false(exists(place->fd, "t"));
}

/* Deeper than PATH_MAX and than descriptors, with files and false names on the way. */
static void a_tree_deeper_than_any_path_goes(void **state)
{
	struct place *place = *state;
	int at = dup(place->fd), next;

	for (int depth = 0; depth < 3000; depth++) {
		assert_int_equal(mkdirat(at, "deep", 0755), 0);
		if (depth % 100 == 0)
			make_file(at, ".moved-0", "in the way");
		next = openat(at, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
		assert_true(at >= 0);
	}
	close(at);
	assert_int_equal(io_remove_tree(place->fd, "deep"), 0);
	assert_false(exists(place->fd, "deep"));
}

static void a_wide_tree_goes(void **state)
{
	struct place *place = *state;
	char name[32];

	assert_int_equal(mkdirat(place->fd, "wide", 0755), 0);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "wide/d%d", i);
		assert_int_equal(mkdirat(place->fd, name, 0755), 0);
		snprintf(name, sizeof(name), "wide/d%d/s", i);
		assert_int_equal(mkdirat(place->fd, name, 0755), 0);
		snprintf(name, sizeof(name), "wide/d%d/s/f", i);
		make_file(place->fd, name, "");
	}
	assert_int_equal(io_remove_tree(place->fd, "wide"), 0);
	assert_false(exists(place->fd, "wide"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(small_files_come_back_whole_or_not_at_all, setup,
						teardown),
		cmocka_unit_test_setup_teardown(numbers_in_files_are_whole_or_max, setup, teardown),
		cmocka_unit_test_setup_teardown(writing_never_makes_a_file, setup, teardown),
		cmocka_unit_test_setup_teardown(a_replaced_file_is_new_whole_and_private, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_failed_replacement_leaves_nothing_behind, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_pipe_does_not_turn_into_a_file, setup, teardown),
		cmocka_unit_test_setup_teardown(a_link_planted_under_the_new_name_is_not_followed,
						setup, teardown),
		cmocka_unit_test_setup_teardown(directories_are_made_with_their_parents, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_write_to_a_full_pipe_waits_for_the_reader, setup,
						teardown),
		cmocka_unit_test_setup_teardown(removing_what_is_not_there_is_done_already, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_removed_tree_takes_no_link_target_with_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(closed_directories_do_not_stand_in_the_way, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_tree_deeper_than_any_path_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_wide_tree_goes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
