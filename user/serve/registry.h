/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry: the runs of this host by what people call them: the --name of a live one, or a unique
 * prefix of the id. Reads the runtime directory; owns nothing.
 */
#ifndef SERVE_REGISTRY_H
#define SERVE_REGISTRY_H

#include "base/err.h"
#include "run/rundir.h"

/* Opens the run that `word` means. ERR_NOT_FOUND; ERR_VALIDATION with the candidates when it is ambiguous. Who may
 * not list the directory has to give the whole id. */
int registry_find(const char *word, struct rundir *d, enum rundir_state *state, struct err *err);

/* Takes a name for a run that is about to start: 0 when no live run has it, -EEXIST with that run's id in *err otherwise.
 * *lock keeps others from it until registry_claimed, which is due when the run is on record. */
int registry_claim(const char *name, int *lock, struct err *err);
void registry_claimed(int *lock);

#endif
