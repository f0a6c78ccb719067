/* SPDX-License-Identifier: Apache-2.0 */
/* attach_into: a process that runs already is handed over to a run, and ends with it from then on. */
#ifndef RUN_ATTACH_INTO_H
#define RUN_ATTACH_INTO_H

#include "kern/kern.h"
#include "run/rundir.h"

/* It and its descendants come under the limits and the policy of the run `d`, as its own members are; what an attach
 * cannot take back is not taken back here. *out counts who came. ERR_BUSY when it belongs to a run already,
 * ERR_NOT_FOUND when the run has ended. */
int attach_into(const struct rundir *d, pid_t pid, struct kern_adopted *out, struct err *err);

#endif
