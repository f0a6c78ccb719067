/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_run: a run as the tests of kern/cgroup need it: groups, and one child in them that blocks until
 * it is let go. Knows nothing of the product above kern/cgroup; included by one test program at a time.
 */
#ifndef KERNEL_CGROUP_RUN_H
#define KERNEL_CGROUP_RUN_H

#include "cgroup_test.h"

#include <linux/sched.h>

struct running {
	struct cgroup *cg;
	pid_t pid;
	int go; /* a byte lets the child go on, its end makes it exit */
};

static inline void fresh_name(char name[64])
{
	snprintf(name, 64, "sbx-test-%d-%llx", (int)getpid(), (unsigned long long)clock_boot_ns());
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

static inline void discard(struct cgroup *cg)
{
	struct err err;

	must(cgroup_destroy(cg, &err), &err);
	cgroup_free(cg);
}

#endif
