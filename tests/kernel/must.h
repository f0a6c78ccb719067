/* SPDX-License-Identifier: Apache-2.0 */
/* must: cmocka with what tests that fork need. What fails in a child must not go on with the
 * tests there. */
#ifndef KERNEL_MUST_H
#define KERNEL_MUST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 30000

static inline void sleep_ms(long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static pid_t test_pid;

__attribute__((constructor)) static void remember_test(void)
{
	test_pid = getpid();
}

static inline void must(bool holds, const char *what, const char *why, const char *file, int line)
{
	if (holds)
		return;
	print_error("%s:%d: %s: %s\n", file, line, what, why);
	if (getpid() != test_pid)
		_exit(99);
	fail();
}

#define MUST(holds) must(holds, #holds, "does not hold", __FILE__, __LINE__)
/* A failed call says in its own words why. */
#define OK(err, rc)                                                                          \
	do {                                                                                 \
		int rc_ = (rc);                                                              \
		must(rc_ >= 0, #rc, (err)->text[0] ? (err)->text : strerror(-rc_), __FILE__, \
		     __LINE__);                                                              \
	} while (0)

static inline void reap_all(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* Memory that a test and its children share. */
static inline void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

#endif
