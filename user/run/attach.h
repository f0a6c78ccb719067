/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach: the other way a run begins: with a tree that runs already.
 *
 * Never kills what it only attached to: a start that fails, a keeper that dies and a detach leave the tree
 * alive and without label.
 */
#ifndef RUN_ATTACH_H
#define RUN_ATTACH_H

#include "run/result.h"

struct run;

/* Everything up to the point where the tree is tracked and recorded; like run_launch. */
int attach_start(struct run *run, struct err *err);
/* The owner is the attached root itself: its end is the end of the run, and not somebody else's. */
bool attach_root_owns(const struct run *run);
/* Before the row goes: members become what they were. Idempotent. */
void attach_release(struct run *run);
/* Stops or continues every process by signal, since there is no group to freeze. */
int attach_freeze(struct run *run, bool frozen);
void attach_clauses(const struct run *run, struct result *result);

#endif
