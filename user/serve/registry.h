/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry: the runs of this host by what people call them: a unique prefix of the id, or the --name
 * of a live one. Reads the runtime directory; owns nothing.
 */
#ifndef SERVE_REGISTRY_H
#define SERVE_REGISTRY_H

#include "base/err.h"
#include "run/rundir.h"

/* Opens the run that `word` means. ERR_NOT_FOUND; ERR_VALIDATION with the candidates when it is ambiguous. Who may
 * not list the directory has to give the whole id. */
int registry_find(const char *word, struct rundir *d, enum rundir_state *state, struct err *err);

/* 0 when no live run has this name, -EEXIST with its id in *err otherwise. */
int registry_name_free(const char *name, struct err *err);

#endif
