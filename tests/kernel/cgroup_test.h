/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_test: cmocka, time, shared memory and skips for the tests of kern/cgroup. */
#ifndef KERNEL_CGROUP_TEST_H
#define KERNEL_CGROUP_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

static inline void must(int r, const struct err *err)
{
	if (r < 0)
		fail_msg("%d: %s", r, err->text);
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

/* One of each kind that this host can enforce. */
static inline struct cgroup_limits every_limit(void)
{
	struct cgroup_limits limits = { 256 * MIB, CGROUP_NOT_ASKED, 100, 1000 };

	if (!facts()->memory.ok)
		limits.memory_bytes = CGROUP_NOT_ASKED;
	if (!facts()->pids.ok)
		limits.pids = CGROUP_NOT_ASKED;
	if (!facts()->cpu.ok)
		limits.cpu_millicores = CGROUP_NOT_ASKED;
	return limits;
}

/* Directories called `leaf` in all hierarchies. */
static inline int groups_named(const char *leaf)
{
	char command[400], text[32] = "";
	FILE *found;

	snprintf(command, sizeof(command), "find /sys/fs/cgroup -type d -name '%s' | wc -l", leaf);
	found = popen(command, "r");
	assert_non_null(found);
	assert_non_null(fgets(text, sizeof(text), found));
	pclose(found);
	return atoi(text);
}

#endif
