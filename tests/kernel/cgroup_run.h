/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_run: a run as the tests of kern/cgroup need it: groups, and one child in them that blocks until
 * it is let go. Knows nothing of the product above kern/cgroup; included by one test program at a time.
 */
#ifndef KERNEL_CGROUP_RUN_H
#define KERNEL_CGROUP_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/loop.h"
#include "kern/cgroup.h"

#define MS 1000000ULL
#define MIB (1ULL << 20)
#define WAIT_MS 10000

struct running {
	struct cgroup *cg;
	pid_t pid;
	int go; /* a byte lets the child go on, its end makes it exit */
};

/* Counters that children and test share. */
static inline _Atomic uint64_t *shared_counters(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static inline void sleep_ms(long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static inline void fresh_name(char name[64])
{
	snprintf(name, 64, "sbx-test-%d-%llx", (int)getpid(), (unsigned long long)clock_boot_ns());
}

static inline void must(int r, const struct err *err)
{
	if (r < 0)
		fail_msg("%d: %s", r, err->text);
}

static inline struct cgroup *create(const struct cgroup_limits *limits)
{
	char name[64];
	struct cgroup_opts opts = { .name = name, .limits = *limits, .want_memory_peak = true };
	struct cgroup *cg = NULL;
	struct err err;

	fresh_name(name);
	must(cgroup_create(&cg, &opts, &err), &err);
	return cg;
}

static inline pid_t clone_into(const struct cgroup *cg)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)cgroup_clone_fd(cg),
	};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* As a start goes: born in the group, enters the rest itself, is checked, then let go. */
static inline void start(struct running *r, const struct cgroup_limits *limits,
			 int (*fn)(void *arg), void *arg)
{
	int ends[2];
	struct err err;
	char byte;

	r->cg = create(limits);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	r->pid = clone_into(r->cg);
	if (r->pid == 0) {
		close(ends[1]);
		if (cgroup_enter_self(r->cg) < 0 || read(ends[0], &byte, 1) != 1)
			_exit(99);
		_exit(fn(arg));
	}
	assert_true(r->pid > 0);
	close(ends[0]);
	r->go = ends[1];
	sleep_ms(5); /* lets it enter by itself, as the ready report does in a start */
	must(cgroup_enter(r->cg, r->pid, &err), &err);
	must(cgroup_verify(r->cg, r->pid, &err), &err);
	assert_int_equal(write(r->go, "g", 1), 1);
}

static inline int wait_status(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static inline void end(struct running *r)
{
	struct err err;

	assert_int_equal(cgroup_kill(r->cg), 0);
	waitpid(r->pid, NULL, 0);
	must(cgroup_destroy(r->cg, &err), &err);
	cgroup_free(r->cg);
	close(r->go);
}

/* Also ends with its parent, so that a test that failed leaves nothing. */
static inline int sleeps(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
	return 0;
}

/* Polls until `done` holds; fails the test after WAIT_MS. */
#define WAIT_UNTIL(done)                                                 \
	do {                                                             \
		uint64_t until_ns_ = clock_boot_ns() + WAIT_MS * MS;     \
		while (!(done)) {                                        \
			if (clock_boot_ns() > until_ns_)                 \
				fail_msg("never came to be: %s", #done); \
			sleep_ms(2);                                     \
		}                                                        \
	} while (0)

/* Asked once a program: under systemd each answer takes four scopes. */
static inline const struct cgroup_facts *facts(void)
{
	static struct cgroup_facts found;

	if (!found.detail[0])
		cgroup_probe(&found);
	return &found;
}

/* Skips with the probe's words where a controller is missing. */
#define NEED(fact)                                                         \
	do {                                                               \
		if (!facts()->fact.ok) {                                   \
			print_message("skipped: %s\n", facts()->fact.why); \
			skip();                                            \
		}                                                          \
	} while (0)

#endif
