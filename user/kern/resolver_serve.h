/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolver_serve: the loop of the resolver's process: queries from the tree over UDP and TCP, c-ares towards
 * the host's name servers, the keeper in between. Only resolver.c uses it. Everything a client can make it
 * hold has a bound.
 */
#ifndef KERN_RESOLVER_SERVE_H
#define KERN_RESOLVER_SERVE_H

#include "kern/resolver.h"

#define RESOLVER_PENDING_MAX 256 /* questions that wait for an upstream; more are not answered */
#define RESOLVER_CLIENTS_MAX 32	 /* TCP connections; the oldest gives way */
#define RESOLVER_CACHE_ROWS 256
#define RESOLVER_IDLE_MS 10000 /* of a TCP connection */
#define RESOLVER_UPSTREAM_MS 2000
#define RESOLVER_UPSTREAM_TRIES 2

struct resolver_fds {
	int channel, udp, tcp;
};

struct resolver_serve;

/* Reads the host's resolv.conf: before the process gives up its rights. NULL when it cannot. */
struct resolver_serve *resolver_serve_new(const struct net_policy *policy,
					  const struct resolver_fds *fds);
/* Returns when the keeper has closed the channel. */
void resolver_serve_run(struct resolver_serve *serve);

#endif
