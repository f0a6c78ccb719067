/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>

#include "base/clock.h"

uint64_t clock_boot_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

int clock_timer_new(void)
{
	int fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

void clock_timer_set(int fd, uint64_t due_ns)
{
	const struct itimerspec at = {
		.it_value = { .tv_sec = (time_t)(due_ns / 1000000000),
			      .tv_nsec = (long)(due_ns % 1000000000) },
	};

	timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL);
}
