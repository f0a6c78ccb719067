/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 120 */
/* What a tree was refused by mounts and Landlock comes back with act, path and rule; what others, or the
 * permissions of a file, refused does not; the hook goes with the last who needs it. */
#include "confine_test.h"
#include "keeper.h"

#include <bpf/bpf.h>

#include "kern/report.h"

static struct kern *k;
static const struct kern_sandbox_opts plain = { .keeper_owns = true };

struct wanted {
	const char *act, *path, *rule; /* below the scene */
	uint64_t count;
};

struct found {
	const struct scene *scene;
	const struct wanted *wanted;
	size_t count;
	unsigned int met, strangers;
};

static const char *no_rule_path(void *arg, uint32_t index, uint32_t dev)
{
	(void)arg;
	(void)index, (void)dev;
	return NULL;
}

static bool is_at(const struct scene *s, const char *path, const char *name)
{
	size_t len = strlen(s->top);

	if (*name == '/')
		return !strcmp(path, name);
	return !strncmp(path, s->top, len) && path[len] == '/' && !strcmp(path + len + 1, name);
}

static int meet(void *arg, const struct denial *seen)
{
	struct found *f = arg;
	struct denial copy = *seen, *d = &copy;
	char path[REPORT_PATH];
	const struct file_rule *r = report_blame(&f->scene->policy, d, f->scene->top, path);

	MUST(d->syscall && d->rule == SBX_NO_RULE && d->last_ns && d->first_ns);
	MUST(d->error && d->pid && !strcmp(d->comm, "kernel_report"));
	if (!r) {
		f->strangers++;
		return 0;
	}
	for (size_t i = 0; i < f->count; i++) {
		const struct wanted *w = &f->wanted[i];

		if (strcmp(denials_act_name(d->act), w->act) || !is_at(f->scene, path, w->path))
			continue;
		must(d->count == w->count, w->path, "is counted wrongly", __FILE__, __LINE__);
		must(is_at(f->scene, r->path, w->rule), w->path, r->path, __FILE__, __LINE__);
		f->met |= 1U << i;
		return 0;
	}
	print_error("%s %s (%s), rule %s\n", denials_act_name(d->act), path, d->path, r->path);
	MUST(!"a denial that nobody expected");
	return 0;
}

struct run {
	const struct scene *scene;
	void (*fn)(const struct scene *s);
};

static int root(void *arg)
{
	const struct run *r = arg;

	MUST(chdir(r->scene->top) == 0);
	enter(r->scene, USER);
	r->fn(r->scene);
	return 0;
}

/* Runs fn confined and reported; what it was refused is what is wanted, and `strangers` that no rule explains. */
static void expect(struct scene *s, void (*fn)(const struct scene *), const struct wanted *wanted,
		   size_t count, unsigned int strangers)
{
	struct found f = { .scene = s, .wanted = wanted, .count = count };
	struct run r = { s, fn };
	struct err err = { .text = "" };
	uint64_t total, dropped;
	struct tree t = { .k = k };
	int link;

	/* A link that was never followed is not at hand: the kernel would have to note its first use. */
	shell("chown -Rh %d:%d %s && sleep 0.02 && cat %s/home/link >/dev/null", USER, USER, s->top,
	      s->top);
	OK(&err, kern_sandbox_create(k, &plain, &t.id, &err));
	OK(&err, report_open(k, t.id, &link, &err));
	t.root = fork();
	if (!t.root)
		_exit(root(&r));
	t.pidfd = (int)syscall(SYS_pidfd_open, t.root, 0);
	OK(&err, kern_sandbox_verify_root(k, t.id, t.root, t.pidfd, &err));
	assert_int_equal(tree_wait(&t), 0);
	assert_int_equal(denials_each(k, t.id, no_rule_path, meet, &f), 0);
	for (size_t i = 0; i < count; i++)
		must(f.met & 1U << i, wanted[i].path, "was not reported", __FILE__, __LINE__);
	assert_int_equal(f.strangers, strangers);
	assert_int_equal(denials_total(k, t.id, &total, &dropped), 0);
	assert_int_equal(dropped, 0);
	denials_forget(k, t.id);
	close(link);
	tree_end(&t);
}

/* ---- acts ----------------------------------------------------------------------------------- */

static void acts(const struct scene *s)
{
	struct timespec now[2] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_NOW } };
	int home = open("home", O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < 3; i++)
		REFUSED(open(at(s, "home/.netrc"), O_RDONLY | O_CLOEXEC));
	REFUSED(open("home/link", O_RDONLY | O_CLOEXEC));
	REFUSED(open("home/work/../.ssh/./id", O_RDONLY | O_CLOEXEC));
	REFUSED(open("home/ok.txt", O_WRONLY | O_CLOEXEC));
	REFUSED(open("home/new", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	REFUSED(mkdir("home/d", 0700));
	REFUSED(unlink("home/ok.txt"));
	REFUSED(rename("home/ok.txt", "home/work/stolen"));
	REFUSED(rename("home/work/.git", "home/work/g"));
	REFUSED(symlink("x", "home/l"));
	REFUSED(link("home/work/true", "home/work/.git/hooks/true"));
	REFUSED(truncate("home/ok.txt", 0));
	REFUSED(chmod("home/ok.txt", 0600));
	REFUSED(utimensat(AT_FDCWD, "home/work/.git/config", now, 0));
	REFUSED(execl("home/work/tool/true", "true", NULL));
	/* Not ours: the other end of a move, permissions, and what is relative to a descriptor. */
	REFUSED(open("/etc/shadow", O_RDONLY | O_CLOEXEC));
	REFUSED(openat(home, ".netrc", O_RDONLY | O_CLOEXEC));
	/* No refusals. */
	WORKS(open("home/work/true", O_RDONLY | O_CLOEXEC));
	MUST(open("home/work/missing", O_RDONLY | O_CLOEXEC) < 0);
}

static void each_refusal_names_act_path_and_rule(void **state)
{
	static const struct wanted wanted[] = {
		{ "read", "home/.netrc", "home/.netrc", 3 },
		{ "read", "home/.ssh/id", "home/.ssh", 1 }, /* by two names */
		{ "write", "home/ok.txt", "/", 1 },
		{ "create", "home/new", "/", 1 },
		{ "create", "home/d", "/", 1 },
		{ "remove", "home/ok.txt", "/", 1 },
		{ "rename", "home/ok.txt", "/", 1 },
		{ "rename", "home/work/.git", "home/work/.git/config", 1 },
		{ "create", "home/l", "/", 1 },
		{ "link", "home/work/.git/hooks/true", "home/work/.git/hooks", 1 },
		{ "truncate", "home/ok.txt", "/", 1 },
		{ "metadata", "home/ok.txt", "/", 1 },
		{ "metadata", "home/work/.git/config", "home/work/.git/config", 1 },
		{ "execute", "home/work/tool/true", "home/work/tool", 1 },
	};
	struct scene s;

	(void)state;
	scene_usual(&s);
	expect(&s, acts, wanted, sizeof(wanted) / sizeof(*wanted), 5);
	scene_done(&s);
}

static void storm(const struct scene *s)
{
	const char *path = at(s, "home/.netrc");

	for (int i = 0; i < 100000; i++)
		if (open(path, O_RDONLY | O_CLOEXEC) >= 0)
			_exit(1);
}

static void a_storm_is_one_row_with_the_exact_count(void **state)
{
	static const struct wanted wanted[] = { { "read", "home/.netrc", "home/.netrc", 100000 } };
	struct scene s;

	(void)state;
	scene_usual(&s);
	expect(&s, storm, wanted, 1, 0);
	scene_done(&s);
}

/* ---- the hook ------------------------------------------------------------------------------- */

/* Links of sys_exit hooks on this host. */
static unsigned int hooks(void)
{
	unsigned int n = 0;
	__u32 id = 0;

	while (!bpf_link_get_next_id(id, &id)) {
		struct bpf_link_info info = { 0 };
		struct bpf_prog_info prog = { 0 };
		__u32 size = sizeof(info), prog_size = sizeof(prog);
		int link = bpf_link_get_fd_by_id(id), fd;

		if (link < 0)
			continue;
		fd = bpf_obj_get_info_by_fd(link, &info, &size)
			     ? -1
			     : bpf_prog_get_fd_by_id(info.prog_id);
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &prog, &prog_size))
			n += !strncmp(prog.name, "report_sys_exit", BPF_OBJ_NAME_LEN - 1);
		close(fd);
		close(link);
	}
	return n;
}

static void wait_hooks(unsigned int want)
{
	for (int i = 0; i < 1000 && hooks() != want; i++)
		sleep_ms(5);
	assert_int_equal(hooks(), want);
}

static void the_hook_lives_as_long_as_its_last_keeper(void **state)
{
	unsigned int before = hooks();
	struct err err = { .text = "" };
	int links[2], pipe_fds[2];
	uint64_t ids[2] = { 0 };
	pid_t keeper;
	char byte;

	(void)state;
	for (int i = 0; i < 2; i++) {
		OK(&err, kern_sandbox_create(k, &plain, &ids[i], &err));
		OK(&err, report_open(k, ids[i], &links[i], &err));
		assert_int_equal(hooks(), before + 1);
	}
	close(links[0]);
	assert_int_equal(hooks(), before + 1);
	/* A keeper that is killed lets go of it, too. */
	assert_int_equal(pipe(pipe_fds), 0);
	keeper = fork();
	if (!keeper) {
		uint64_t id = 0;
		int link;

		close(links[1]);
		OK(&err, kern_sandbox_create(k, &plain, &id, &err));
		OK(&err, report_open(k, id, &link, &err));
		MUST(write(pipe_fds[1], "x", 1) == 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
	close(links[1]);
	wait_hooks(before + 1);
	kill(keeper, SIGKILL);
	waitpid(keeper, NULL, 0);
	wait_hooks(before);
	for (int i = 0; i < 2; i++)
		kern_sandbox_delete(k, ids[i]);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static int refused_unreported(void *arg)
{
	(void)arg;
	MUST(setresuid(USER, USER, USER) == 0 && open("/etc/shadow", O_RDONLY) < 0);
	return 0;
}

static void a_sandbox_that_did_not_ask_is_not_reported(void **state)
{
	struct err err = { .text = "" };
	uint64_t other = 0, total, dropped;
	struct tree t;
	int link;

	(void)state;
	OK(&err, kern_sandbox_create(k, &plain, &other, &err));
	OK(&err, report_open(k, other, &link, &err));
	tree_start(&t, k, &plain, refused_unreported, NULL);
	assert_int_equal(tree_wait(&t), 0);
	assert_int_equal(denials_total(k, t.id, &total, &dropped), 0);
	assert_int_equal(total, 0);
	tree_end(&t);
	close(link);
	kern_sandbox_delete(k, other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_refusal_names_act_path_and_rule),
		cmocka_unit_test(a_storm_is_one_row_with_the_exact_count),
		cmocka_unit_test(the_hook_lives_as_long_as_its_last_keeper),
		cmocka_unit_test(a_sandbox_that_did_not_ask_is_not_reported),
	};
	int rc;

	k = open_kern();
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	kern_close(k);
	return rc;
}
