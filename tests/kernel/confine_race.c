/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 180 */
/* A file policy while others move things about: renames inside and outside, io_uring's workers, paths of 400
 * steps, objects that are replaced. */
#include "confine_test.h"

#include <linux/io_uring.h>
#include <sys/mman.h>

#include "base/clock.h"

#define RACE_MS 2000
#define EXCHANGE 2 /* RENAME_EXCHANGE */

static bool racing(uint64_t *began)
{
	uint64_t now = clock_boot_ns();

	if (!*began)
		*began = now;
	return now - *began < RACE_MS * 1000000ull;
}

/* ---- from inside ---------------------------------------------------------------------------- */

/* Two names in the working directory that change places: one leads to a secret, one does not. */
static void swaps_inside(const struct scene *s)
{
	char *a = at(s, "home/work/a"), *b = at(s, "home/work/b");
	unsigned int good = 0, refused = 0;
	uint64_t began = 0;
	pid_t swapper;

	WORKS(symlink("../.ssh/id", a));
	WORKS(symlink("../ok.txt", b));
	swapper = fork();
	if (swapper == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, EXCHANGE);
	}
	while (racing(&began)) {
		const char *text = content(a);

		MUST(!*text || !strcmp(text, "home/ok.txt"));
		good += *text != 0;
		refused += !*text;
		REFUSED(open(a, O_WRONLY | O_CLOEXEC));
	}
	kill(swapper, SIGKILL);
	waitpid(swapper, NULL, 0);
	MUST(good > 100 && refused > 100);
	WORKS(unlink(a));
	WORKS(unlink(b));
}

static void swapping_names_opens_nothing(void **state)
{
	struct scene s;

	(void)state;
	scene_usual(&s);
	confined(&s, swaps_inside);
	scene_done(&s);
}

static void opens_deep(const struct scene *s)
{
	static const char *const roots[] = { "home/.ssh", "other", "home/work" };

	for (size_t i = 0; i < 3; i++) {
		char path[2048];
		size_t len = (size_t)snprintf(path, sizeof(path), "%s/%s", s->top, roots[i]);

		for (int d = 0; d < 400; d++)
			len += (size_t)snprintf(path + len, sizeof(path) - len, "/d");
		snprintf(path + len, sizeof(path) - len, "/file");
		MUST((try_open(path, O_RDONLY) == 0) == (i > 0));
		MUST((try_open(path, O_WRONLY) == 0) == (i == 2));
	}
}

static void depth_changes_nothing(void **state)
{
	struct scene s;

	(void)state;
	scene_usual(&s);
	shell("cd %s && p=$(printf 'd/%%.0s' $(seq 400)) && for r in home/.ssh other home/work; do "
	      "mkdir -p $r/$p && echo deep > $r/$p/file; done",
	      s.top);
	confined(&s, opens_deep);
	scene_done(&s);
}

/* ---- io_uring ------------------------------------------------------------------------------- */

struct uring {
	int fd;
	unsigned char *sq, *cq;
	struct io_uring_sqe *sqes;
	struct io_uring_params p;
};

static bool uring_open(struct uring *u)
{
	size_t sq, cq;

	*u = (struct uring){ .fd = -1 };
	u->fd = (int)syscall(SYS_io_uring_setup, 4, &u->p);
	if (u->fd < 0)
		return false;
	sq = u->p.sq_off.array + u->p.sq_entries * sizeof(unsigned int);
	cq = u->p.cq_off.cqes + u->p.cq_entries * sizeof(struct io_uring_cqe);
	u->sq = mmap(NULL, sq, PROT_READ | PROT_WRITE, MAP_SHARED, u->fd, IORING_OFF_SQ_RING);
	u->cq = mmap(NULL, cq, PROT_READ | PROT_WRITE, MAP_SHARED, u->fd, IORING_OFF_CQ_RING);
	u->sqes = mmap(NULL, u->p.sq_entries * sizeof(*u->sqes), PROT_READ | PROT_WRITE, MAP_SHARED,
		       u->fd, IORING_OFF_SQES);
	return u->sq != MAP_FAILED && u->cq != MAP_FAILED && u->sqes != MAP_FAILED;
}

/* openat by a worker thread of the kernel; a descriptor or -errno. */
static int uring_openat(struct uring *u, const char *path, int flags)
{
	unsigned int *tail = (unsigned int *)(void *)(u->sq + u->p.sq_off.tail);
	unsigned int *array = (unsigned int *)(void *)(u->sq + u->p.sq_off.array);
	unsigned int *head = (unsigned int *)(void *)(u->cq + u->p.cq_off.head);
	unsigned int at_ = *tail & (u->p.sq_entries - 1);
	struct io_uring_cqe *cqes = (struct io_uring_cqe *)(void *)(u->cq + u->p.cq_off.cqes);
	int res;

	u->sqes[at_] = (struct io_uring_sqe){ .opcode = IORING_OP_OPENAT,
					      .flags = IOSQE_ASYNC,
					      .fd = AT_FDCWD,
					      .addr = (uintptr_t)path,
					      .open_flags = (unsigned int)(flags | O_CLOEXEC) };
	array[at_] = at_;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	MUST(syscall(SYS_io_uring_enter, u->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
	res = cqes[*head & (u->p.cq_entries - 1)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return res;
}

static void opens_by_ring(const struct scene *s)
{
	struct uring u;

	if (!uring_open(&u)) {
		print_message("no io_uring here: %s\n", strerror(errno));
		return;
	}
	MUST(uring_openat(&u, at(s, "home/.ssh/id"), O_RDONLY) == -EACCES);
	MUST(uring_openat(&u, at(s, "home/.netrc"), O_RDONLY) == -EACCES);
	MUST(uring_openat(&u, at(s, "home/ok.txt"), O_WRONLY) < 0);
	MUST(uring_openat(&u, at(s, "home/work/.git/config"), O_WRONLY) < 0);
	MUST(uring_openat(&u, at(s, "home/ok.txt"), O_RDONLY) >= 0);
	MUST(uring_openat(&u, at(s, "home/work/true"), O_WRONLY) >= 0);
}

static void no_worker_of_io_uring_opens_more(void **state)
{
	struct scene s;

	(void)state;
	scene_usual(&s);
	confined(&s, opens_by_ring);
	scene_done(&s);
}

/* ---- from outside --------------------------------------------------------------------------- */

/* While the mounts are made, a directory and a link to a secret change places. Either the start is refused, or
 * what was named is what is meant. */
static void starts_in_a_race(struct scene *s)
{
	const struct confine_opts opts = { .policy = &s->policy, .mounts = true };
	const struct mounts_opts bare = { 0 };
	char what[MOUNTS_WHAT];
	int rc;

	MUST(mounts_apply(&bare, what) == 0);
	rc = confine_mounts(&opts, what);
	if (rc < 0)
		_exit(1);
	MUST(access(at(s, "home/.ssh/new"), F_OK) < 0);
	/* Were the link followed, the secret directory would be a mount of its own now, and writable. */
	MUST(try_open(at(s, "home/.ssh"), O_RDONLY | O_DIRECTORY) == 0);
	MUST(try_open(at(s, "home/.ssh/new"), O_CREAT | O_WRONLY) == EROFS);
	_exit(0);
}

static void a_start_that_is_raced_is_right_or_refused(void **state)
{
	unsigned int fine = 0, refused = 0;
	uint64_t began = 0;
	struct scene s;
	pid_t swapper;

	(void)state;
	scene_make(&s);
	rule(&s, "/", RX);
	rule(&s, "other", FILE_ALL);
	sort_rules(&s);
	WORKS(symlink("home/.ssh", at(&s, "swap")));
	swapper = fork();
	if (swapper == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			syscall(SYS_renameat2, AT_FDCWD, at(&s, "other"), AT_FDCWD, at(&s, "swap"),
				EXCHANGE);
	}
	while (racing(&began)) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0)
			starts_in_a_race(&s);
		MUST(waitpid(pid, &status, 0) == pid);
		MUST(WIFEXITED(status) && WEXITSTATUS(status) < 2);
		fine += WEXITSTATUS(status) == 0;
		refused += WEXITSTATUS(status) == 1;
	}
	kill(swapper, SIGKILL);
	waitpid(swapper, NULL, 0);
	/* Where the two share one CPU they hardly meet. */
	assert_true(fine + refused > 3 && (refused || sysconf(_SC_NPROCESSORS_ONLN) == 1));
	scene_done(&s);
}

static int go[2], done[2];

static void hold(void)
{
	char byte = 'x';

	MUST(write(done[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1);
}

/* The limit of masks: they cover an object, and go with it when another process replaces it. */
static void is_replaced(const struct scene *s)
{
	MUST(!*content(at(s, "home/.netrc")) && !*content(at(s, "home/.gnupg/k")));
	hold();
	MUST(!strcmp(content(at(s, "home/.netrc")), "replaced"));
	MUST(!strcmp(content(at(s, "home/.gnupg/k")), "replaced"));
	/* What is inside a masked directory may change as it likes. */
	MUST(!*content(at(s, "home/.ssh/id")));
	/* A writable tree that is replaced is no longer writable. */
	MUST(try_open(at(s, "home/work/src/a.c"), O_WRONLY) != 0);
}

static void keeps_what_was(const struct scene *s)
{
	MUST(!*content(at(s, "home/.netrc")));
	hold();
	MUST(try_open(at(s, "home/.netrc"), O_RDONLY) == EACCES);
	MUST(try_open(at(s, "home/.gnupg/k"), O_RDONLY) == EACCES);
	MUST(try_open(at(s, "home/.ssh/id"), O_RDONLY) == EACCES);
	/* The price. */
	MUST(try_open(at(s, "home/gone/true"), O_RDONLY) == EACCES);
	/* And what it does not cost. */
	MUST(!strcmp(content(at(s, "home/ok.txt")), "home/ok.txt"));
	MUST(!strcmp(content(at(s, "other/file")), "other/file"));
	MUST(system("ls / >/dev/null && cat /etc/passwd >/dev/null && ls $PWD/home >/dev/null") ==
	     0);
}

static void works_on(const struct scene *s)
{
	WORKS(open(at(s, "home/work/src/new"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	WORKS(rename(at(s, "home/work/src/new"), at(s, "home/work/new")));
	WORKS(unlink(at(s, "home/work/new")));
	REFUSED(open(at(s, "home/new"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	REFUSED(open(at(s, "home/work/.git/config"), O_WRONLY | O_CLOEXEC));
	MUST(!*content(at(s, "home/.ssh/id")));
	MUST(!strcmp(content(at(s, "home/ok.txt")), "home/ok.txt"));
	MUST(system("/bin/true </dev/null >/dev/null") == 0);
}

/* `fn` stops once, and everything is replaced then. */
static void while_replaced(void (*fn)(const struct scene *), bool freeze)
{
	struct scene s;
	int status = -1;
	char byte;
	pid_t pid;

	scene_usual(&s);
	s.freeze = freeze;
	shell("chown -Rh %d:%d %s", USER, USER, s.top);
	MUST(pipe2(go, O_CLOEXEC) == 0 && pipe2(done, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		MUST(chdir(s.top) == 0);
		enter(&s, USER);
		fn(&s);
		_exit(0);
	}
	MUST(read(done[0], &byte, 1) == 1);
	shell("cd %s/home && echo replaced > n && mv n .netrc && rm -r .gnupg && mkdir .gnupg && "
	      "echo replaced > .gnupg/k && rm .ssh/id && echo replaced > .ssh/id && mv work gone "
	      "&& "
	      "cp -r gone work && rm -r gone && mkdir gone && cp work/true gone && "
	      "chown -R %d:%d .",
	      s.top, USER, USER);
	MUST(write(go[1], "x", 1) == 1 && waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
	scene_done(&s);
}

static void a_mask_goes_when_the_object_is_replaced_outside(void **state)
{
	(void)state;
	while_replaced(is_replaced, false);
}

static void what_is_put_into_a_frozen_directory_is_not_readable(void **state)
{
	(void)state;
	while_replaced(keeps_what_was, true);
}

static void a_frozen_way_costs_nothing_else(void **state)
{
	struct scene s;

	(void)state;
	scene_usual(&s);
	s.freeze = true;
	confined(&s, works_on);
	scene_done(&s);
}

static void what_cannot_be_frozen_is_said(void **state)
{
	const struct confine_who user = { .uid = USER, .gid = USER };
	struct confine_limits limits;
	struct confine_opts opts = { .landlock = true };
	struct scene s;

	(void)state;
	scene_usual(&s);
	shell("chown -Rh %d:%d %s", USER, USER, s.top);
	opts.policy = &s.policy;
	confine_judge(&s.policy, &limits);
	assert_int_equal(limits.replaceable, 3);
	confine_freeze(&opts, &user, &limits);
	assert_int_equal(limits.replaceable, 0);

	/* One whose directory can be written, one that the user may not read anyway, one among too many. */
	rule(&s, "home/work/src/a.c", 0);
	shell("cd %s && mkdir many && touch $(seq -f many/%%.0f 600) && chmod 600 other/file && "
	      "chown 0 "
	      "other/file",
	      s.top);
	rule(&s, "other/file", 0);
	rule(&s, "many/17", 0);
	sort_rules(&s);
	confine_judge(&s.policy, &limits);
	assert_int_equal(limits.replaceable, 6);
	confine_freeze(&opts, &user, &limits);
	assert_int_equal(limits.replaceable, 2);
	assert_non_null(strstr(limits.first_replaceable, "home/work/src/a.c"));
	opts.landlock = false;
	confine_freeze(&opts, &user, &limits);
	assert_int_equal(limits.replaceable, 5);
	scene_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(swapping_names_opens_nothing),
		cmocka_unit_test(depth_changes_nothing),
		cmocka_unit_test(no_worker_of_io_uring_opens_more),
		cmocka_unit_test(a_start_that_is_raced_is_right_or_refused),
		cmocka_unit_test(a_mask_goes_when_the_object_is_replaced_outside),
		cmocka_unit_test(what_is_put_into_a_frozen_directory_is_not_readable),
		cmocka_unit_test(a_frozen_way_costs_nothing_else),
		cmocka_unit_test(what_cannot_be_frozen_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
