/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/files.h"
#include "policy/trace.h"

struct told {
	char text[4096];
	size_t len;
	int answer;
};

static int tell(void *arg, const struct trace_act *act)
{
	struct told *told = arg;

	told->len += (size_t)snprintf(told->text + told->len, sizeof(told->text) - told->len,
				      "%s%s%s%s%s %s\n", act->right & FILE_READ ? "r" : "",
				      act->right & FILE_WRITE ? "w" : "",
				      act->right & FILE_EXEC ? "x" : "", act->entry ? "+" : "",
				      act->resolved ? "" : "?", act->path);
	return told->answer;
}

/* Both readings of the lines; returns how many acts were lost. */
static size_t read_all(const char *const *lines, size_t count, struct told *told)
{
	struct trace *t = trace_new("/start", tell, told);
	size_t lost;

	assert_non_null(t);
	*told = (struct told){ 0 };
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < count; i++) {
			char *line = strdup(lines[i]);

			assert_int_equal(pass ? trace_line(t, line) : trace_forks(t, line), 0);
			free(line);
		}
	lost = trace_lost(t);
	trace_free(t);
	return lost;
}

#define READ(told, ...)                                \
	read_all((const char *const[]){ __VA_ARGS__ }, \
		 sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *), &(told))

static void one_line_is_what_was_done(void **state)
{
	static const struct {
		const char *line, *told;
	} rows[] = {
		{ "7 openat(AT_FDCWD</d>, \"f\", O_RDONLY|O_CLOEXEC) = 3</e/f>", "r /e/f\n" },
		{ "7 openat(AT_FDCWD</d>, \"f\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</d/f>",
		  "w+ /d/f\n" },
		{ "7 open(\"f\", O_RDWR) = 3</start/f>", "rw /start/f\n" },
		{ "7 openat(4</d>, \"f\", O_RDONLY|O_PATH) = 3</d/f>", "" },
		{ "7 openat(4</d>, \"f\", O_RDONLY) = -1 EACCES (Permission denied)", "" },
		{ "7 openat(AT_FDCWD</d>, \".\", O_WRONLY|O_TMPFILE, 0600) = 4</d/#12>(deleted)",
		  "w? /d/.\n" },
		{ "7 openat2(AT_FDCWD</d>, \"f\", {flags=O_RDWR|O_CREAT, mode=0600, resolve=0}, "
		  "24) = "
		  "3</d/f>",
		  "rw+ /d/f\n" },
		{ "7 creat(\"f\", 0666) = 3</start/f>", "w+ /start/f\n" },
		{ "7 mkdir(\"a\", 0777)                  = 0", "w+? /start/a\n" },
		{ "7 mkdir(\"a\", 0777) = -1 EEXIST (File exists)", "" },
		{ "7 unlinkat(4</d>, \"a\", AT_REMOVEDIR) = 0", "w+? /d/a\n" },
		{ "7 rename(\"a\", \"/x/b\") = 0", "w+? /start/a\nw+? /x/b\n" },
		{ "7 renameat2(AT_FDCWD</d>, \"a\", 4</e>, \"b\", RENAME_NOREPLACE) = 0",
		  "w+? /d/a\nw+? /e/b\n" },
		{ "7 linkat(3</d>, \"a\", 4</e>, \"b\", 0) = 0", "w+? /e/b\n" },
		{ "7 symlinkat(\"../x\", AT_FDCWD</d>, \"l\") = 0", "w+? /d/l\n" },
		{ "7 fchmod(3</d/f>, 0600) = 0", "w /d/f\n" },
		{ "7 fchmod(3</memfd:x>(deleted), 0600) = 0", "" },
		{ "7 utimensat(0</d/f>, NULL, NULL, 0) = 0", "w? /d/f\n" },
		{ "7 setxattr(\"f\", \"user.x\", \"1\", 1, 0) = 0", "w? /start/f\n" },
		{ "7 execve(\"./x\", [\"./x\", \"a, b)\"], 0x7ffe /* 37 vars */) = 0",
		  "x? /start/./x\n" },
		{ "7 execveat(3</d/x>, \"\", [\"x\"], 0x55 /* 1 var */, AT_EMPTY_PATH) = 0",
		  "x? /d/x\n" },
		{ "7 bind(3<socket:[1]>, {sa_family=AF_UNIX, sun_path=\"sock\"}, 7) = 0",
		  "w+? /start/sock\n" },
		{ "7 bind(3<socket:[1]>, {sa_family=AF_UNIX, sun_path=@\"abstract\"}, 7) = 0", "" },
		{ "7 bind(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(0)}, 16) = 0", "" },
		{ "7 mkdir(\"sp \\303\\274>\\\"\\n\", 0777) = 0", "w+? /start/sp \303\274>\"\n\n" },
		{ "7 openat(AT_FDCWD</d>, \"f\", O_RDONLY) = 3</d/\\74x\\76 \\303\\274>",
		  "r /d/<x> \303\274\n" },
		{ "7 newfstatat(AT_FDCWD</d>, \"f\", {st_mode=S_IFREG|0644}, 0) = 0", "" },
		{ "7 --- SIGCHLD {si_signo=SIGCHLD} ---", "" },
	};
	struct told told;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(READ(told, rows[i].line), 0);
		if (strcmp(told.text, rows[i].told) != 0)
			fail_msg("%s: told '%s', not '%s'", rows[i].line, told.text, rows[i].told);
	}
}

static void other_lines_are_passed_over(void **state)
{
	struct told told;

	(void)state;
	assert_int_equal(READ(told, "", "7", "7 ", "x", "7 openat", "7 openat(", "7 openat(\"",
			      "7 mkdir(\"a\", 0777)", "7 mkdir(\"a\", 0777) = ?", "7 mkdir(\"a",
			      "7 mkdir(\"a\\", "7 mkdir() = 0", "7 mkdir(NULL, 0) = 0",
			      "7 openat(AT_FDCWD</d, \"f\", O_RDWR) = 3</d/f",
			      "7 <... mkdir resumed>) = 0", "7 <... mkdir", "7 open(\"a\") = 3</a",
			      "+++ exited +++"),
			 0);
	assert_string_equal(told.text, "");
}

static void a_process_is_where_its_parent_was_at_the_fork(void **state)
{
	struct told told;

	(void)state;
	/* 11 runs before its parent's fork returns, 12 behind it; each then goes its own way. */
	READ(told, "10 chdir(\"a\") = 0", "10 vfork( <unfinished ...>", "11 mkdir(\"x\", 0777) = 0",
	     "11 chdir(\"/b\") = 0", "11 mkdir(\"y\", 0777) = 0", "10 <... vfork resumed>) = 11",
	     "10 mkdir(\"z\", 0777) = 0",
	     "10 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x1) = "
	     "12",
	     "10 chdir(\"/c\") = 0", "12 mkdir(\"x\", 0777) = 0");
	assert_string_equal(told.text,
			    "w+? /start/a/x\nw+? /b/y\nw+? /start/a/z\nw+? /start/a/x\n");
}

static void of_two_forks_at_once_each_child_has_its_own_parent(void **state)
{
	struct told told;

	(void)state;
	READ(told, "10 fork() = 20", "20 chdir(\"/b\") = 0", "10 fork( <unfinished ...>",
	     "20 fork( <unfinished ...>", "31 mkdir(\"x\", 0777) = 0", "30 mkdir(\"x\", 0777) = 0",
	     "20 <... fork resumed>) = 31", "10 <... fork resumed>) = 30");
	assert_string_equal(told.text, "w+? /b/x\nw+? /start/x\n");
}

static void threads_share_where_they_are(void **state)
{
	struct told told;

	(void)state;
	READ(told, "10 clone3({flags=CLONE_VM|CLONE_FS|CLONE_THREAD, exit_signal=0}, 88) = 11",
	     "11 mkdir(\"x\", 0777) = 0", "10 fchdir(3</b>) = 0", "11 mkdir(\"x\", 0777) = 0",
	     "11 +++ exited with 0 +++", "10 mkdir(\"y\", 0777) = 0");
	assert_string_equal(told.text, "w+? /start/x\nw+? /b/x\nw+? /b/y\n");
}

static void a_call_in_two_parts_is_one(void **state)
{
	struct told told;

	(void)state;
	READ(told, "10 openat(AT_FDCWD</d>, \"f\", O_RDWR|O_CREAT, 0600 <unfinished ...>",
	     "11 +++ exited with 0 +++", "10 <... openat resumed>) = 3</d/f>",
	     "10 mkdir(\"a\", 0777 <unfinished ...>", "10 <... mkdir resumed>) = -1 EEXIST (x)");
	assert_string_equal(told.text, "rw+ /d/f\n");
}

static void a_relative_path_of_a_stranger_is_lost(void **state)
{
	struct told told;

	(void)state;
	assert_int_equal(READ(told, "10 mkdir(\"a\", 0777) = 0", "99 mkdir(\"b\", 0777) = 0",
			      "99 mkdir(\"/c\", 0777) = 0"),
			 1);
	assert_string_equal(told.text, "w+? /start/a\nw+? /c\n");
}

static void an_answer_other_than_0_is_returned(void **state)
{
	struct told told = { .answer = -ENOSPC };
	struct trace *t = trace_new("/", tell, &told);
	char line[] = "1 rename(\"a\", \"b\") = 0";

	(void)state;
	assert_non_null(t);
	assert_int_equal(trace_line(t, line), -ENOSPC);
	assert_string_equal(told.text, "w+? /a\n");
	trace_free(t);
}

static void the_filter_fits(void **state)
{
	char filter[TRACE_FILTER_MAX];

	(void)state;
	trace_filter(filter);
	assert_true(strlen(filter) < TRACE_FILTER_MAX - 64);
	assert_ptr_equal(strstr(filter, "trace=?open,?openat,"), filter);
	assert_non_null(strstr(filter, ",?bind"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_line_is_what_was_done),
		cmocka_unit_test(other_lines_are_passed_over),
		cmocka_unit_test(a_process_is_where_its_parent_was_at_the_fork),
		cmocka_unit_test(of_two_forks_at_once_each_child_has_its_own_parent),
		cmocka_unit_test(threads_share_where_they_are),
		cmocka_unit_test(a_call_in_two_parts_is_one),
		cmocka_unit_test(a_relative_path_of_a_stranger_is_lost),
		cmocka_unit_test(an_answer_other_than_0_is_returned),
		cmocka_unit_test(the_filter_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
