/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 120 */
/* The child of a run applies it all in order: mounts, identity, capabilities, no_new_privs, Landlock; and the
 * command is still found, by link and by path, on the mounts it sees. */
#include "confine_test.h"

#include <sys/resource.h>

#include "kern/spawn.h"

#define LINKS "/run/confine-links"

struct ending {
	int status; /* as waitpid(2), or the negative code of the failed start */
	char out[4096];
	char why[512];
};

/* Runs `argv` confined to the scene. */
static struct ending run(struct scene *s, char *const argv[], struct spawn_opts opts)
{
	const struct confine_opts confine = {
		.policy = &s->policy, .mounts = true, .landlock = true, .uid = opts.uid
	};
	char *const environ_[] = { (char *)"PATH=/usr/bin:/bin", NULL };
	struct ending end = { 0 };
	struct err err = { 0 };
	struct spawn child;
	int pipe_fds[2], rc;
	ssize_t n;

	MUST(pipe2(pipe_fds, O_CLOEXEC) == 0);
	opts.argv = argv;
	opts.envp = environ_;
	opts.search_path = "/usr/bin:/bin";
	opts.chdir = opts.chdir ? opts.chdir : s->top;
	opts.stdin_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	opts.stdout_fd = opts.stderr_fd = pipe_fds[1];
	opts.tty_fd = -1;
	opts.links = LINKS;
	opts.drop_caps = opts.no_new_privs = true;
	opts.max_file_bytes = opts.nofile = UINT64_MAX;
	opts.confine = &confine;
	rc = spawn_start(&child, &opts, &err);
	if (rc == 0)
		rc = spawn_ready(&child, &opts, 10000, &err);
	if (rc == 0)
		rc = spawn_release(&child, &err);
	if (rc == 0)
		rc = spawn_result(&child, &opts, &err);
	close(pipe_fds[1]);
	close(opts.stdin_fd);
	if (rc < 0) {
		end.status = rc;
		snprintf(end.why, sizeof(end.why), "%s", err.text);
		spawn_abort(&child);
	} else {
		size_t have = 0;

		while (have < sizeof(end.out) - 1 &&
		       (n = read(pipe_fds[0], end.out + have, sizeof(end.out) - 1 - have)) > 0)
			have += (size_t)n;
		MUST(waitpid(child.pid, &end.status, 0) == child.pid);
	}
	spawn_done(&child);
	close(pipe_fds[0]);
	return end;
}

static struct ending run_shell(struct scene *s, const char *script, struct spawn_opts opts)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };

	return run(s, argv, opts);
}

static const struct spawn_opts as_user = { .set_user = true,
					   .uid = USER,
					   .gid = USER,
					   .groups = (const gid_t[]){ USER },
					   .group_count = 1 };
static const struct spawn_opts as_root;

static void no_capability_is_left_and_none_comes_back(void **state)
{
	const struct spawn_opts who[] = { as_user, as_root };
	struct scene s;

	(void)state;
	scene_usual(&s);
	for (size_t i = 0; i < 2; i++) {
		struct ending e = run_shell(
			&s, "grep -E '^(Cap|NoNew)' /proc/self/status; ulimit -Hc; ulimit -Sc",
			who[i]);

		assert_int_equal(e.status, 0);
		for (const char *set = "IPEBA"; *set; set++) {
			static const char *const names[] = { "CapInh", "CapPrm", "CapEff", "CapBnd",
							     "CapAmb" };
			char line[64];

			snprintf(line, sizeof(line), "%s:\t0000000000000000\n",
				 names[set - "IPEBA"]);
			if (!strstr(e.out, line))
				print_error("%s", e.out);
			assert_non_null(strstr(e.out, line));
		}
		assert_non_null(strstr(e.out, "NoNewPrivs:\t1"));
	}
	scene_done(&s);
}

/* The limit of 1 byte keeps a core from the helper that 0 would feed. */
static void no_core_is_dumped(void **state)
{
	struct scene s;
	struct ending e;

	(void)state;
	scene_usual(&s);
	e = run_shell(&s, "grep 'core file' /proc/self/limits", as_user);
	assert_int_equal(e.status, 0);
	MUST(strstr(e.out, " 1                    1 "));
	e = run_shell(&s, "cd home/work && kill -SEGV $$", as_user);
	assert_true(WIFSIGNALED(e.status) && !WCOREDUMP(e.status));
	scene_done(&s);
}

static void what_is_denied_stays_denied_through_the_exec(void **state)
{
	struct scene s;
	struct ending e;

	(void)state;
	scene_usual(&s);
	shell("chown -Rh %d:%d %s", USER, USER, s.top);
	e = run_shell(&s,
		      "cat home/ok.txt; cat home/.ssh/id home/.netrc home/link; echo x > home/new; "
		      "echo x > home/work/new && cat home/work/new",
		      as_user);
	MUST(strstr(e.out, "home/ok.txt") && e.status == 0);
	MUST(!strstr(e.out, "home/.ssh/id\n") && !strstr(e.out, "home/.netrc\n"));
	MUST(strstr(e.out, "cannot create home/new") && strstr(e.out, "\nx\n"));
	scene_done(&s);
}

/* The links that programs are executed through lie below /run, and lead through /proc. */
static void a_program_starts_where_run_or_proc_is_denied(void **state)
{
	static const char *const denied[] = { "/run", "/proc" };
	char *const argv[] = { (char *)"echo", (char *)"started", NULL };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct scene s;
		struct ending e;

		scene_make(&s);
		rule(&s, "/", RX);
		rule(&s, denied[i], 0);
		sort_rules(&s);
		e = run(&s, argv, as_user);
		if (e.status)
			print_error("%s: %s\n", denied[i], e.why);
		assert_int_equal(e.status, 0);
		assert_string_equal(e.out, "started\n");
		scene_done(&s);
	}
}

static void a_script_starts_by_its_path(void **state)
{
	char *const argv[] = { (char *)"./script", (char *)"here", NULL };
	struct scene s;
	struct ending e;

	(void)state;
	scene_usual(&s);
	shell("cd %s && printf '#!/bin/sh\\necho $0 $1\\n' > script && chmod 755 script", s.top);
	e = run(&s, argv, as_user);
	assert_int_equal(e.status, 0);
	assert_string_equal(e.out, "./script here\n");
	scene_done(&s);
}

static void a_command_that_may_not_run_is_refused(void **state)
{
	char *const noexec[] = { (char *)"home/work/tool/true", NULL };
	char *const denied[] = { (char *)"home/.gnupg/true", NULL };
	char *const allowed[] = { (char *)"home/work/true", NULL };
	struct scene s;

	(void)state;
	scene_usual(&s);
	shell("cp /bin/true %s/home/.gnupg/true && chown -Rh %d:%d %s", s.top, USER, USER, s.top);
	assert_int_equal(run(&s, allowed, as_user).status, 0);
	assert_int_equal(run(&s, noexec, as_user).status, -EACCES);
	assert_int_equal(run(&s, denied, as_user).status, -EACCES);
	scene_done(&s);
}

static void a_directory_that_is_denied_is_said(void **state)
{
	struct spawn_opts opts = as_user;
	struct scene s;
	struct ending e;

	(void)state;
	scene_usual(&s);
	opts.chdir = at(&s, "home/.ssh");
	e = run_shell(&s, "pwd", opts);
	assert_int_equal(e.status, -EACCES);
	assert_non_null(strstr(e.why, "home/.ssh"));
	opts.chdir = at(&s, "home/work");
	e = run_shell(&s, "pwd && echo x > here", opts);
	scene_done(&s);
	MUST(strstr(e.out, "home/work\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_capability_is_left_and_none_comes_back),
		cmocka_unit_test(no_core_is_dumped),
		cmocka_unit_test(what_is_denied_stays_denied_through_the_exec),
		cmocka_unit_test(a_program_starts_where_run_or_proc_is_denied),
		cmocka_unit_test(a_script_starts_by_its_path),
		cmocka_unit_test(a_command_that_may_not_run_is_refused),
		cmocka_unit_test(a_directory_that_is_denied_is_said),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	shell("rm -rf " LINKS);
	return rc;
}
