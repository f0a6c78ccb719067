/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper: a sandbox as the tests of the kernel half need it: made by the calling process, its
 * root a function of the test. Knows nothing of the product above kern/kern.h.
 */
#ifndef KERNEL_KEEPER_H
#define KERNEL_KEEPER_H

#include "must.h"

#include "base/clock.h"
#include "kern/kern.h"

static inline struct kern *open_kern(void)
{
	struct err err = { .text = "" };
	struct kern *k;

	OK(&err, kern_open(&k, &err));
	return k;
}

struct tree {
	struct kern *k;
	uint64_t id;
	pid_t root;
	int pidfd;
};

/* Becomes the keeper of a new sandbox and forks its root. */
static inline void tree_start(struct tree *t, struct kern *k, const struct kern_sandbox_opts *opts,
			      int (*root)(void *), void *arg)
{
	struct err err = { .text = "" };

	*t = (struct tree){ .k = k };
	OK(&err, kern_sandbox_create(k, opts, &t->id, &err));
	t->root = fork();
	if (!t->root)
		_exit(root(arg));
	MUST(t->root > 0);
	t->pidfd = (int)syscall(SYS_pidfd_open, t->root, 0);
	MUST(t->pidfd >= 0);
	OK(&err, kern_sandbox_verify_root(k, t->id, t->root, t->pidfd, &err));
}

static inline struct sbx_sandbox tree_row(const struct tree *t)
{
	struct sbx_sandbox row;

	assert_int_equal(kern_sandbox_read(t->k, t->id, &row), 0);
	return row;
}

static inline int print_row(void *arg, const struct sbx_task *task)
{
	(void)arg;
	print_message("thread %u of %u, flags %x, depth %u\n", task->pid, task->tgid, task->flags,
		      task->depth);
	return 0;
}

/* Waits for `live` rows (0: the tree is gone); the time it took in ms. */
static inline uint64_t tree_wait_live(const struct tree *t, uint64_t live)
{
	uint64_t begin = clock_boot_ns(), now = begin;
	struct sbx_sandbox row = tree_row(t);

	for (; row.live != live; row = tree_row(t), now = clock_boot_ns()) {
		reap_all(); /* where an exit hook was skipped, a zombie is freed first */
		if (now - begin > WAIT_MS * 1000000ull)
			kern_tasks_each(t->k, t->id, print_row, NULL);
		if (now - begin > WAIT_MS * 1000000ull)
			fail_msg("%llu threads live, not %llu", (unsigned long long)row.live,
				 (unsigned long long)live);
		sleep_ms(1);
	}
	return (now - begin) / 1000000;
}

/* Status of the root, once the whole tree is gone. */
static inline int tree_wait(struct tree *t)
{
	int status = -1;

	assert_int_equal(waitpid(t->root, &status, 0), t->root);
	tree_wait_live(t, 0);
	return status;
}

static inline void tree_end(struct tree *t)
{
	assert_int_equal(kern_sandbox_delete(t->k, t->id), 0);
	close(t->pidfd);
}

static inline int count_row(void *arg, const struct sbx_task *task)
{
	(void)task;
	++*(unsigned int *)arg;
	return 0;
}

/* Rows of a sandbox; 0: of all. */
static inline unsigned int rows_of(struct kern *k, uint64_t id)
{
	unsigned int n = 0;

	assert_int_equal(kern_tasks_each(k, id, count_row, &n), 0);
	return n;
}

#endif
