/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isolation: what keeps one run away from everything outside it, under every profile but `none`: namespaces, no
 * capabilities, no groups, a filter on system calls.
 */
#ifndef RUN_ISOLATION_H
#define RUN_ISOLATION_H

#include "kern/spawn.h"
#include "run/result.h"

struct run;

/* What the child does to itself for it. After network_spawn. */
void isolation_spawn(struct run *run, struct spawn_opts *opts);
void isolation_clauses(const struct run *run, struct result *result);

#endif
