/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network: the network policy of one run: resolved, put in force by what this host has, told about, taken
 * back. `none` is a network namespace of its own; sockets of others that have a path are covered; a filter
 * leaves the families that can be decided on.
 */
#ifndef RUN_NETWORK_H
#define RUN_NETWORK_H

#include "kern/net.h"
#include "kern/seccomp.h"
#include "kern/spawn.h"
#include "kern/unixes.h"
#include "run/names.h"
#include "run/result.h"

struct run;

struct network {
	struct seccomp_opts seccomp;
	struct unixes unixes;
	bool hooks;	 /* the kernel half decides by label */
	bool lsm;	 /* on all of it: no filter and no cover is needed */
	const char *why; /* not */
	struct kern_net *rows;
	struct names names;
};

/* Whether the network is restricted at all. */
bool network_asked(const struct run *run);
/* Resolves the policy against this host. What it cannot hold is refused. After confinement_resolve. */
int network_resolve(struct run *run, struct err *err);
/* What the child does to itself for it. */
void network_spawn(const struct run *run, struct spawn_opts *opts);
/* The kernel half's part, between the child's report and its release. */
int network_enforce(struct run *run, struct err *err);
/* One address that a name leads to: kern_net_add_address. */
int network_admit(struct run *run, const struct net_address *address, const struct net_rule *rule,
		  uint64_t until_ns);
/* What is in force on the child, between its report and its release. */
int network_verify(struct run *run, struct err *err);
void network_clauses(const struct run *run, struct result *result);
/* Idempotent. */
void network_release(struct run *run);

#endif
