/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names: the host names of one run's network policy: a resolver of its own, a resolv.conf that names it to the
 * tree, addresses that are admitted before the tree hears them, and what was refused.
 */
#ifndef RUN_NAMES_H
#define RUN_NAMES_H

#include "base/loop.h"
#include "kern/net.h"
#include "kern/resolver.h"
#include "run/denied.h"

#define NAMES_REFUSED_MAX 64 /* different ones; more are counted */
#define NAMES_KNOWN_MAX \
	1024 /* addresses whose name is told; further ones take the oldest's place */

struct run;

struct names {
	bool asked;
	struct resolver resolver;
	struct loop_source source;
	struct net_policy policy;     /* the spec's, and the way to the resolver */
	char file[300], target[4096]; /* resolv.conf of the tree, and what it covers */
	struct names_refused {
		char name[NET_NAME_MAX + 1];
		struct net_address address; /* where it leads; version 0: it has no rule */
		uint64_t count, first_ns;
	} refused[NAMES_REFUSED_MAX];
	size_t refused_count;
	uint64_t refused_total;
	struct names_known { /* what an admitted address was asked for as, last */
		struct net_address address;
		char name[NET_NAME_MAX + 1];
	} * known;
	size_t known_count, known_next;
	char failed[NET_NAME_MAX + 128]; /* the last name that upstream had no answer for */
};

/* Starts the resolver where a rule has a name: after the run's directory, before its sandbox. */
int names_start(struct run *run, struct err *err);
/* What the kernel half is to hold: never NULL. */
const struct net_policy *names_policy(const struct run *run);
/* What was refused, as items behind those that are there; and the names of the addresses in those. */
int names_denied(const struct names *names, struct denied *out);
/* Idempotent. */
void names_stop(struct run *run);

#endif
