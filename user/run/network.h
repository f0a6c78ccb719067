/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network: the network policy of one run: resolved, put in force by what this host has, told about, taken
 * back. `none` is a network namespace of its own; sockets of others that have a path are covered; a filter
 * leaves the families that can be decided on.
 */
#ifndef RUN_NETWORK_H
#define RUN_NETWORK_H

#include "kern/seccomp.h"
#include "kern/spawn.h"
#include "kern/unixes.h"
#include "run/result.h"

struct run;

struct network {
	struct seccomp_opts seccomp;
	struct unixes unixes;
};

/* Whether the network is restricted at all. */
bool network_asked(const struct run *run);
/* Resolves the policy against this host. What it cannot hold is refused. After confinement_resolve. */
int network_resolve(struct run *run, struct err *err);
/* What the child does to itself for it. */
void network_spawn(const struct run *run, struct spawn_opts *opts);
/* What is in force on the child, between its report and its release. */
int network_verify(struct run *run, struct err *err);
void network_clauses(const struct run *run, struct result *result);
/* Idempotent. */
void network_release(struct run *run);

#endif
