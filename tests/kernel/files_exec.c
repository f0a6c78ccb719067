/* SPDX-License-Identifier: Apache-2.0 */
/* Execute is one right, by whatever way code gets to run. */
#include "files_scene.h"

#define LD_SO "/lib64/ld-linux-x86-64.so.2"

/* Exit status of a program, or the errno of its exec. */
static int run(const char *path, const char *arg)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		execl(path, path, arg, NULL);
		_exit(errno == EACCES ? 100 : 101);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) != 100 ? WEXITSTATUS(status) : -EACCES;
}

static int maps(const char *path, int prot, int later)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *p = mmap(NULL, 4096, prot, MAP_PRIVATE, fd, 0);
	int rc = p == MAP_FAILED ? -errno : later ? said(mprotect(p, 4096, later)) : 0;

	if (p != MAP_FAILED)
		munmap(p, 4096);
	close(fd);
	return rc;
}

static int executes(void *arg)
{
	(void)arg;
	ANSWERS(0, run(F("w/true"), NULL));
	ANSWERS(-EACCES, run(F("w/noexec/true"), NULL));
	ANSWERS(0, maps(F("w/true"), PROT_READ | PROT_EXEC, 0));
	ANSWERS(0, maps(F("w/noexec/true"), PROT_READ, 0));
	ANSWERS(-EACCES, maps(F("w/noexec/true"), PROT_READ | PROT_EXEC, 0));
	ANSWERS(0, maps(F("w/true"), PROT_READ, PROT_READ | PROT_EXEC));
	ANSWERS(-EACCES, maps(F("w/noexec/true"), PROT_READ, PROT_READ | PROT_EXEC));
	if (access(LD_SO, F_OK))
		return 0;
	ANSWERS(0, run(LD_SO, F("w/true")));
	MUST(run(LD_SO, F("w/noexec/true")) != 0);
	return 0;
}

static void no_way_to_run_it_is_left(void **state)
{
	(void)state;
	under_policy(executes);
}

static int scripts(void *arg)
{
	int fd = open(F("w/noexec/true"), O_PATH | O_CLOEXEC);

	(void)arg;
	ANSWERS(0, run(F("w/script"), NULL));
	ANSWERS(-EACCES, run(F("w/noexec/script"), NULL));
	ANSWERS(-EACCES, run(F("w/by-noexec"), NULL));
	ANSWERS(-EACCES,
		said(syscall(SYS_execveat, fd, "", (char *[]){ "x", NULL }, NULL, AT_EMPTY_PATH)));
	return 0;
}

static void a_script_needs_the_right_and_so_does_its_interpreter(void **state)
{
	(void)state;
	if (!k)
		skip();
	put(F("w/script"), "#!/bin/true\n");
	put(F("w/noexec/script"), "#!/bin/true\n");
	put(F("w/by-noexec"), "#!" F("w/noexec/true") "\n");
	under_policy(scripts);
}

/* ---- memory that is a file ------------------------------------------------------------------- */

static int runs_memfd(void)
{
	int from = open(F("w/true"), O_RDONLY | O_CLOEXEC), to = memfd_create("m", 0), status = -1;
	char buf[65536];
	ssize_t n;
	pid_t pid;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		MUST(write(to, buf, (size_t)n) == n);
	close(from);
	pid = fork();
	if (!pid) {
		syscall(SYS_execveat, to, "", (char *[]){ "true", NULL }, NULL, AT_EMPTY_PATH);
		_exit(errno == EACCES ? 100 : 101);
	}
	waitpid(pid, &status, 0);
	close(to);
	return WEXITSTATUS(status) == 100 ? -EACCES : -WEXITSTATUS(status);
}

static int memfd_runs(void *arg)
{
	(void)arg;
	ANSWERS(0, runs_memfd());
	return 0;
}

static int memfd_does_not_run(void *arg)
{
	(void)arg;
	ANSWERS(-EACCES, runs_memfd());
	ANSWERS(-EACCES, run(F("w/true"), NULL));
	ANSWERS(0, run("/bin/true", NULL));
	return 0;
}

static void a_memfd_runs_where_something_written_may_run(void **state)
{
	static const struct line rules[] = { { FILE_RO, "/", FILE_OBJECT },
					     { FILE_RW, "w", FILE_OBJECT },
					     { FILE_NOEXEC, "w", FILE_OBJECT } };

	(void)state;
	under_policy(memfd_runs);
	assert_int_equal(GUARDED(k, rules, memfd_does_not_run, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_way_to_run_it_is_left),
		cmocka_unit_test(a_script_needs_the_right_and_so_does_its_interpreter),
		cmocka_unit_test(a_memfd_runs_where_something_written_may_run),
	};

	return cmocka_run_group_tests(tests, scene_make, scene_unmake);
}
