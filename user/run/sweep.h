/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep: cleans up after keepers that died: kills what is left of their trees, writes the result that
 * the kernel half's receipt allows (no evidence: unknown), removes group, rows and socket.
 *
 * Acts only on what meta.json (root's) and the kernel's rows say, and only on the incarnation of a
 * group that was recorded. Never touches a run whose keeper lives, or an attached tree.
 */
#ifndef RUN_SWEEP_H
#define RUN_SWEEP_H

#include "base/err.h"
#include "run/rundir.h"

/* One run that is RUNDIR_DEAD, or RUNDIR_ENDED with its group, row or socket still there. -EBUSY while
 * somebody else sweeps it or its keeper lives; -EINPROGRESS while an attached tree goes on without its keeper. */
int sweep_run(struct rundir *d, struct err *err);
/* For a live run whose keeper does not act (stopped, stuck): kills its tree over the keeper's head. The result is
 * still the keeper's to write. -EBUSY when something does not die. */
int sweep_kill(const struct rundir *d, struct err *err);
/* An attached tree that goes on without its keeper: it loses its label, and the run has its result. */
int sweep_let_go(struct rundir *d, struct err *err);
/* Every one of them; the number swept. Cheap when there is none. */
int sweep_dead(void);

#endif
