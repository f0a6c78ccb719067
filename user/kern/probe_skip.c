/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether tracepoint programs are skipped. A BPF program is not entered while it is already
 * active on the CPU. That happens where such programs can be preempted: since a46023d5616e
 * ("tracing: Guard __DECLARE_TRACE() use of __DO_TRACE_CALL() with SRCU-fast"), under full or
 * lazy preemption. So: one child's fork stays in the hook for a while, and another, more
 * urgent, forks on the same CPU meanwhile. The kernel counts who it skipped.
 */
#include "kern/probe_bpf.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <time.h>

#include "kern/aside.h"
#include "sbx/kern_calls.h"

#define TRY_MS 2000

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

static int fork_once(void)
{
	int fd = aside_start(nothing, NULL, NULL);

	return fd < 0 ? 1 : !!aside_end(fd, TRY_MS);
}

static int fork_slowly(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, SBX_PROBE_SPIN_COMM);
	return fork_once();
}

static bool ended(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* One CPU for both. Without the privilege for SCHED_FIFO this one is still preferred, for
 * having slept. */
static int fork_urgently(void *arg)
{
	const struct sched_param first = { .sched_priority = 1 };
	const struct timespec step = { .tv_nsec = SBX_PROBE_SPIN_NS / 6 };
	cpu_set_t set;
	int cpu = sched_getcpu(), slow, rc = 0;

	(void)arg;
	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return 1;
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
	slow = aside_start(fork_slowly, NULL, NULL);
	if (slow < 0)
		return 1;
	while (!rc && !ended(slow)) {
		nanosleep(&step, NULL);
		rc = fork_once();
	}
	return aside_end(slow, TRY_MS) || rc;
}

static int skips(int prog_fd, uint64_t *count)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);
	int rc = bpf_obj_get_info_by_fd(prog_fd, &info, &len);

	*count = info.recursion_misses;
	return rc;
}

#define TRIES 3 /* a busy host may not let the two meet */

bool probe_hooks_skipped(int prog_fd)
{
	uint64_t before, after;

	if (skips(prog_fd, &before))
		return true;
	for (int i = 0; i < TRIES; i++) {
		int fd = aside_start(fork_urgently, NULL, NULL);

		/* What cannot be tried is taken for the worse: copies cost instructions, a missing
		 * hook a label. */
		if (fd < 0 || aside_end(fd, TRY_MS) || skips(prog_fd, &after) || after != before)
			return true;
	}
	return false;
}
