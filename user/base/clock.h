/* SPDX-License-Identifier: Apache-2.0 */
/* clock: the one clock that deadlines and records use; it runs on while the machine sleeps. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_BOOTTIME in ns. */
uint64_t clock_boot_ns(void);

#endif
