/* SPDX-License-Identifier: Apache-2.0 */
/* clock: the one clock that deadlines and records use; it runs on while the machine sleeps. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_BOOTTIME in ns. */
uint64_t clock_boot_ns(void);
/* A timerfd of CLOCK_BOOTTIME, disarmed; negative errno. Whoever inherits it shares its setting. */
int clock_timer_new(void);
/* Readable from `due_ns` on; 0: never. */
void clock_timer_set(int fd, uint64_t due_ns);

#endif
