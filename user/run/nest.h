/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nest: what a run inside another one takes from those around it, and leaves to them.
 *
 * A keeper inside is a member of the sandbox around it: it is told to end with everybody else, and may be killed before
 * it has written a result. Rows say why.
 */
#ifndef RUN_NEST_H
#define RUN_NEST_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/kern.h"

/* The first deadline around sandbox `id`; 0: none. */
uint64_t nest_deadline(struct kern *k, uint64_t id);
/* Whether one of the sandboxes around `id` ends. */
bool nest_ends(struct kern *k, uint64_t id);
/* Whether a sandbox inside `id` has a row: while `id` is empty, one whose keeper was killed. */
bool nest_orphans(struct kern *k, uint64_t id);

#endif
