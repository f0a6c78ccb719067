/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 120 */
/* A file policy as mounts and Landlock: every act of contract 81 outside and, as its control, inside; rules
 * that alternate; what of the system stays usable. As another user and as root without capabilities. */
#include "confine_test.h"

#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/xattr.h>

/* ---- acts ----------------------------------------------------------------------------------- */

static void write_acts(const struct scene *s)
{
	char *ok = at(s, "home/ok.txt"), *fresh = at(s, "home/new"),
	     *a = at(s, "home/work/src/a.c"), *b = at(s, "home/work/src/b.c");
	struct timespec now[2] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_NOW } };

	REFUSED(open(ok, O_WRONLY | O_CLOEXEC));
	REFUSED(open(ok, O_RDONLY | O_TRUNC | O_CLOEXEC));
	REFUSED(open(fresh, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	REFUSED(open(at(s, "home"), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
	REFUSED(truncate(ok, 0));
	REFUSED(unlink(ok));
	REFUSED(rename(ok, fresh));
	REFUSED(link(ok, fresh));
	REFUSED(symlink("x", fresh));
	REFUSED(mkdir(fresh, 0700));
	REFUSED(mknod(fresh, S_IFIFO | 0600, 0));
	REFUSED(chmod(ok, 0600));
	REFUSED(chown(ok, getuid(), getgid()));
	REFUSED(utimensat(AT_FDCWD, ok, now, 0));
	REFUSED(setxattr(ok, "user.x", "y", 1, 0));
	MUST(!strcmp(content(ok), "home/ok.txt"));

	WORKS(open(a, O_WRONLY | O_CLOEXEC));
	WORKS(truncate(a, 1));
	WORKS(rename(a, b));
	WORKS(link(b, a));
	WORKS(unlink(b));
	WORKS(symlink("x", b));
	WORKS(rename(b, at(s, "home/work/elsewhere")));
	WORKS(unlink(at(s, "home/work/elsewhere")));
	WORKS(mkdir(b, 0700));
	WORKS(rmdir(b));
	WORKS(mknod(b, S_IFIFO | 0600, 0));
	WORKS(unlink(b));
	WORKS(chmod(a, 0600));
	WORKS(chown(a, getuid(), getgid()));
	WORKS(utimensat(AT_FDCWD, a, now, 0));
	WORKS(open(at(s, "home/work"), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
}

static void read_acts(const struct scene *s)
{
	MUST(try_open(at(s, "home/.ssh"), O_RDONLY | O_DIRECTORY) == EACCES);
	MUST(try_open(at(s, "home/.ssh/id"), O_RDONLY) == EACCES);
	MUST(try_open(at(s, "home/.gnupg/k"), O_RDONLY) == EACCES);
	MUST(try_open(at(s, "home/.netrc"), O_RDONLY) == EACCES);
	MUST(try_open(at(s, "home/.netrc"), O_WRONLY) != 0);
	REFUSED(unlink(at(s, "home/.netrc")));
	REFUSED(chmod(at(s, "home/.netrc"), 0600));
	REFUSED(chmod(at(s, "home/.ssh"), 0700));
	REFUSED(rename(at(s, "home/.ssh"), at(s, "home/ssh")));

	MUST(!strcmp(content(at(s, "home/ok.txt")), "home/ok.txt"));
	WORKS(open(at(s, "home"), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	WORKS(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

static int run(const char *path)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execl(path, path, NULL);
		_exit(errno);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void exec_acts(const struct scene *s)
{
	int fd = open(at(s, "home/work/tool/true"), O_RDONLY | O_CLOEXEC);

	MUST(run(at(s, "home/work/true")) == 0);
	MUST(run("/bin/true") == 0);
	MUST(run(at(s, "home/work/tool/true")) == EACCES);
	MUST(fd >= 0);
	errno = 0;
	MUST(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED &&
	     errno == EPERM);
	/* It may be written, so it may be copied to where it runs. */
	WORKS(open(at(s, "home/work/tool/new"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static void repository_acts(const struct scene *s)
{
	REFUSED(open(at(s, "home/work/.git/hooks/new"), O_CREAT | O_WRONLY | O_CLOEXEC, 0755));
	REFUSED(open(at(s, "home/work/.git/hooks/old"), O_WRONLY | O_CLOEXEC));
	REFUSED(open(at(s, "home/work/.git/config"), O_WRONLY | O_CLOEXEC));
	REFUSED(unlink(at(s, "home/work/.git/config")));
	REFUSED(rename(at(s, "home/work/src/a.c"), at(s, "home/work/.git/config")));
	REFUSED(rename(at(s, "home/work/.git/hooks"), at(s, "home/work/.git/h")));
	REFUSED(rename(at(s, "home/work/.git"), at(s, "home/work/g")));
	REFUSED(rmdir(at(s, "home/work/.git/hooks")));
	REFUSED(rename(at(s, "home/work"), at(s, "home/w")));
	REFUSED(syscall(SYS_renameat2, AT_FDCWD, at(s, "home/work/.git"), AT_FDCWD,
			at(s, "home/work/src"), 2 /* RENAME_EXCHANGE */));
	MUST(!strcmp(content(at(s, "home/work/.git/config")), "home/work/.git/config"));
	WORKS(open(at(s, "home/work/.git/index"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	WORKS(rename(at(s, "home/work/.git/index"), at(s, "home/work/.git/index2")));
}

static void usual(void (*fn)(const struct scene *))
{
	struct scene s;

	scene_usual(&s);
	confined(&s, fn);
	scene_done(&s);
}

static void nothing_is_written_outside_what_may_be(void **state)
{
	(void)state;
	usual(write_acts);
}

static void nothing_denied_is_read(void **state)
{
	(void)state;
	usual(read_acts);
}

static void nothing_runs_where_it_may_not(void **state)
{
	(void)state;
	usual(exec_acts);
}

static void what_is_read_only_in_a_writable_tree_stays_there(void **state)
{
	(void)state;
	usual(repository_acts);
}

/* ---- rules within rules --------------------------------------------------------------------- */

static void sees_alternation(const struct scene *s)
{
	char cwd[PATH_MAX];

	MUST(getcwd(cwd, sizeof(cwd)) && !strcmp(cwd, s->top));
	MUST(try_open(at(s, "home"), O_RDONLY) == EACCES);
	MUST(try_open(at(s, "home/ok.txt"), O_RDONLY) == ENOENT);
	MUST(try_open(at(s, "home/.ssh/id"), O_RDONLY) == ENOENT);
	MUST(!strcmp(content(at(s, "home/.gnupg/k")), "home/.gnupg/k"));
	REFUSED(open(at(s, "home/.gnupg/k"), O_WRONLY | O_CLOEXEC));
	WORKS(open(at(s, "home/work/new"), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
	WORKS(unlink(at(s, "home/work/new")));
	MUST(try_open(at(s, "home/work/.git"), O_RDONLY) == EACCES);
	MUST(!strcmp(content(at(s, "home/work/.git/config")), "home/work/.git/config"));
	REFUSED(open(at(s, "home/work/.git/config"), O_WRONLY | O_CLOEXEC));
	MUST(!strcmp(content(at(s, "home/work/.git/hooks/old")), "home/work/.git/hooks/old"));
	WORKS(open(at(s, "home/work/.git/hooks/old"), O_WRONLY | O_CLOEXEC));
	REFUSED(mkdir(at(s, "home/x"), 0755));
	REFUSED(rename(at(s, "home/work/.git"), at(s, "home/work/g")));
	REFUSED(rename(at(s, "home/work"), at(s, "w")));
	WORKS(chdir(at(s, "home/work/src")));
	WORKS(chdir(".."));
	WORKS(open("true", O_RDONLY | O_CLOEXEC));
}

/* Denied, in it read-only, in it writable, in it denied, in it a file and a directory. */
static void rights_alternate_to_any_depth(void **state)
{
	struct scene s;
	mode_t before = umask(077);

	(void)state;
	scene_make(&s);
	rule(&s, "/", RX);
	rule(&s, "home", 0);
	rule(&s, "home/.gnupg", RX);
	rule(&s, "home/work", FILE_ALL);
	rule(&s, "home/work/.git", 0);
	rule(&s, "home/work/.git/config", FILE_READ);
	rule(&s, "home/work/.git/hooks", FILE_ALL);
	sort_rules(&s);
	confined(&s, sees_alternation);
	umask(before);
	scene_done(&s);
}

static void sees_two_masks(const struct scene *s)
{
	MUST(try_open(at(s, "home/.ssh/id"), O_RDONLY) == EACCES);
	MUST(try_open(at(s, "home/.netrc"), O_RDONLY) == EACCES);
	WORKS(open(at(s, "home/ok.txt"), O_WRONLY | O_CLOEXEC));
	WORKS(open(at(s, "other/new"), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
	WORKS(unlink(at(s, "other/new")));
	REFUSED(rename(at(s, "home"), at(s, "h")));
	REFUSED(rename(s->top, "/var/tmp/elsewhere"));
	REFUSED(rename(at(s, "home/.ssh"), at(s, "home/s")));
}

/* "/" itself may be writable: then all that lies between is pinned. */
static void a_mask_in_a_writable_root_cannot_be_carried_away(void **state)
{
	struct scene s;

	(void)state;
	scene_make(&s);
	rule(&s, "/", FILE_ALL);
	rule(&s, "home/.ssh", 0);
	rule(&s, "home/.netrc", 0);
	sort_rules(&s);
	confined(&s, sees_two_masks);
	scene_done(&s);
}

static void sees_only_what_is_named(const struct scene *s)
{
	MUST(try_open("/etc/passwd", O_RDONLY) == EACCES);
	MUST(try_open(at(s, "other/file"), O_RDONLY) == EACCES);
	MUST(try_open("/dev/null", O_WRONLY) == EACCES);
	MUST(!strcmp(content(at(s, "home/ok.txt")), "home/ok.txt"));
	REFUSED(open(at(s, "home/ok.txt"), O_WRONLY | O_CLOEXEC));
	WORKS(open(at(s, "home/work/new"), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
	WORKS(unlink(at(s, "home/work/new")));
	MUST(try_open(at(s, "home/.ssh/id"), O_RDONLY) == EACCES);
	MUST(run("/bin/true") == 0);
	MUST(run("/usr/bin/perl") == EACCES || access("/usr/bin/perl", F_OK));
}

static void the_root_may_be_denied(void **state)
{
	struct scene s;

	(void)state;
	scene_make(&s);
	rule(&s, "/", 0);
	rule(&s, "/usr/bin/true", RX);
	rule(&s, "/usr/lib", RX);
	rule(&s, s.top, FILE_READ);
	rule(&s, "home/.ssh", 0);
	rule(&s, "home/work", FILE_ALL);
	rule(&s, "other", 0);
	sort_rules(&s);
	confined(&s, sees_only_what_is_named);
	scene_done(&s);
}

/* ---- what stays usable ---------------------------------------------------------------------- */

static void uses_devices(const struct scene *s)
{
	int pt = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), number = 0;
	char name[64];

	MUST(pt >= 0);
	MUST(ioctl(pt, TIOCSPTLCK, &number) == 0 && ioctl(pt, TIOCGPTN, &number) == 0);
	snprintf(name, sizeof(name), "/dev/pts/%d", number);
	setsid();
	WORKS(open(name, O_RDWR | O_CLOEXEC));
	WORKS(open("/dev/tty", O_RDWR | O_CLOEXEC));
	WORKS(open("/dev/null", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
	WORKS(open("/dev/zero", O_RDONLY | O_CLOEXEC));
	WORKS(open("/dev/urandom", O_RDONLY | O_CLOEXEC));
	REFUSED(open("/dev/new", O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
	REFUSED(unlink("/dev/null"));
	REFUSED(open("/dev/shm/new", O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
	MUST(system("echo x >/dev/null 2>&1 </dev/null") == 0);
	(void)s;
}

static void uses_proc(const struct scene *s)
{
	MUST(system("echo 500 > /proc/self/oom_score_adj") == 0);
	MUST(system("echo name > /proc/self/comm") == 0);
	WORKS(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
	REFUSED(open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC));
	if (access("/proc/sysrq-trigger", F_OK) == 0)
		REFUSED(open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC));
	REFUSED(open("/sys/kernel/profiling", O_WRONLY | O_CLOEXEC));
	WORKS(open("/proc/sys/kernel/ostype", O_RDONLY | O_CLOEXEC));
	MUST(try_open("/proc/1/mem", O_RDONLY) != 0);
	(void)s;
}

static void devices_stay_usable_and_dev_admits_no_file(void **state)
{
	(void)state;
	usual(uses_devices);
}

static void a_process_may_tune_itself_but_not_the_host(void **state)
{
	(void)state;
	usual(uses_proc);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static int said(const struct scene *s, const char *cwd, char what[MOUNTS_WHAT])
{
	const struct confine_opts opts = { .policy = &s->policy, .mounts = true };
	const struct mounts_opts bare = { 0 };

	MUST(chdir(cwd) == 0 && mounts_apply(&bare, what) == 0);
	return confine_mounts(&opts, what);
}

static void in_child(struct scene *s, void (*fn)(struct scene *))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		fn(s);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	scene_done(s);
}

static void starts_in_denied(struct scene *s)
{
	char what[MOUNTS_WHAT] = "";

	MUST(said(s, at(s, "home/.ssh"), what) == -EACCES && strstr(what, "home/.ssh"));
}

static void a_denied_working_directory_is_refused_by_name(void **state)
{
	struct scene s;

	(void)state;
	scene_usual(&s);
	in_child(&s, starts_in_denied);
}

static void misses_one(struct scene *s)
{
	char what[MOUNTS_WHAT] = "";

	MUST(rmdir(at(s, "other2")) == 0);
	MUST(said(s, "/", what) == -ENOENT && strstr(what, "other2"));
}

static void misses_an_optional_one(struct scene *s)
{
	char what[MOUNTS_WHAT] = "";

	for (size_t i = 0; i < s->policy.count; i++)
		s->rules[i].optional = true;
	MUST(rmdir(at(s, "other2")) == 0);
	MUST(said(s, "/", what) == 0);
}

static void what_vanished_meanwhile_is_an_error_unless_optional(void **state)
{
	static void (*const ways[])(struct scene *) = { misses_one, misses_an_optional_one };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct scene s;

		scene_make(&s);
		shell("mkdir %s/other2", s.top);
		rule(&s, "/", RX);
		rule(&s, "other2", 0);
		in_child(&s, ways[i]);
	}
}

static void hides_all_but_work(struct scene *s)
{
	const struct mounts_opts mounts = { .private_tmp = true, .keep = { at(s, "home/work") } };
	const struct confine_opts opts = {
		.policy = &s->policy, .mounts = true, .landlock = true, .private_tmp = true
	};
	char what[MOUNTS_WHAT] = "";

	MUST(chdir(at(s, "home/work")) == 0 && mounts_apply(&mounts, what) == 0);
	must(confine_ruleset(&opts, what) >= 0, what, strerror(errno), __FILE__, __LINE__);
	must(confine_mounts(&opts, what) == 0, what, strerror(errno), __FILE__, __LINE__);
	REFUSED(open(".git/config", O_WRONLY | O_CLOEXEC));
	REFUSED(rename(".git", "g"));
	MUST(try_open(at(s, "home/.ssh"), O_RDONLY) == ENOENT);
	WORKS(open("/tmp/new", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static void what_a_private_tmp_hides_needs_no_rule(void **state)
{
	struct scene s;

	(void)state;
	scene_usual(&s);
	rule(&s, "/var/tmp", FILE_ALL);
	rule(&s, "/tmp", FILE_ALL);
	sort_rules(&s);
	in_child(&s, hides_all_but_work);
}

static void becomes_a_link(struct scene *s)
{
	char what[MOUNTS_WHAT] = "";

	shell("cd %s && mv other o && ln -s home/.ssh other", s->top);
	MUST(said(s, "/", what) == -ELOOP && strstr(what, "other"));
}

static void a_link_that_was_put_in_the_way_is_not_followed(void **state)
{
	struct scene s;

	(void)state;
	scene_make(&s);
	rule(&s, "/", RX);
	rule(&s, "other", FILE_ALL);
	in_child(&s, becomes_a_link);
}

static void it_says_what_it_cannot_hold(void **state)
{
	struct confine_limits limits;
	struct scene s;

	(void)state;
	scene_usual(&s);
	confine_judge(&s.policy, &limits);
	assert_false(limits.future || limits.anywhere || limits.ungrantable);
	assert_int_equal(limits.absent_at_start, 0);

	rule(&s, "home/.aws", 0)->optional = true;
	rule(&s, "home/.same", RX);
	sort_rules(&s);
	confine_judge(&s.policy, &limits);
	assert_false(limits.future || limits.ungrantable);
	assert_int_equal(limits.absent_at_start, 1);

	rule(&s, "home/work/.env", 0);
	sort_rules(&s);
	confine_judge(&s.policy, &limits);
	assert_true(limits.future && !limits.ungrantable && !limits.anywhere);
	assert_non_null(strstr(limits.first, "work/.env"));

	rule(&s, "home/cache", FILE_ALL);
	rule(&s, "zzz", 0)->reach = FILE_ANYWHERE;
	sort_rules(&s);
	confine_judge(&s.policy, &limits);
	assert_true(limits.future && limits.ungrantable && limits.anywhere);
	scene_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_written_outside_what_may_be),
		cmocka_unit_test(nothing_denied_is_read),
		cmocka_unit_test(nothing_runs_where_it_may_not),
		cmocka_unit_test(what_is_read_only_in_a_writable_tree_stays_there),
		cmocka_unit_test(rights_alternate_to_any_depth),
		cmocka_unit_test(a_mask_in_a_writable_root_cannot_be_carried_away),
		cmocka_unit_test(the_root_may_be_denied),
		cmocka_unit_test(devices_stay_usable_and_dev_admits_no_file),
		cmocka_unit_test(a_process_may_tune_itself_but_not_the_host),
		cmocka_unit_test(a_denied_working_directory_is_refused_by_name),
		cmocka_unit_test(what_vanished_meanwhile_is_an_error_unless_optional),
		cmocka_unit_test(what_a_private_tmp_hides_needs_no_rule),
		cmocka_unit_test(a_link_that_was_put_in_the_way_is_not_followed),
		cmocka_unit_test(it_says_what_it_cannot_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
