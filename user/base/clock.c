/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "base/clock.h"

uint64_t clock_boot_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}
