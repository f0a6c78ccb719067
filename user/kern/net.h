/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net: a network policy in the kernel half: hooks by label on the root of the v2 hierarchy, and of LSM
 * where it attaches. What they do not see on tier B (families without hooks, unix sockets) is for
 * seccomp, Landlock and mounts of the launched tree.
 */
#ifndef KERN_NET_H
#define KERN_NET_H

#include "kern/kern.h"
#include "policy/net.h"

struct kern_net; /* one sandbox's policy in force */

struct kern_net_opts {
	uint64_t sandbox;
	pid_t pid;	/* of the tree */
	bool own_space; /* it has a network namespace of its own: all of loopback there is inside */
	int group_fd; /* directory of its v2 group: packets with source routes are dropped there, and first
			 * ones to ports that may not be listened on, where LSM does not attach. -1: none */
	bool audit; /* log, do not refuse */
};

/* Whether the hooks attach and refuse here: loads and tries them at the first call on this half. Else
 * `why`, which lives as long as `k`. */
bool kern_net_available(struct kern *k, const char **why);

/* Whether LSM's hooks are among them, once available: unix sockets, families, listen(2) and control messages are
 * then decided by label, too. */
bool kern_net_lsm(struct kern *k);

/* Fills a fresh generation and stores it in the sandbox's row: NET_NONE and NET_ALLOW; the others need
 * none. Once before the tree runs its first instruction of its own; another call replaces it. Names of
 * the policy admit nothing until kern_net_add_address. Leaves nothing behind on failure. */
int kern_net_publish(struct kern_net **net, struct kern *k, const struct net_policy *policy,
		     const struct kern_net_opts *opts, struct err *err);

/* Before an answer that has `address` leaves: what `rule` (one of names) says holds there until
 * `expires_ns` (CLOCK_BOOTTIME). -EACCES: guarded (net_guarded), never by way of a name. -ENOSPC: full; the
 * answer must not leave. An address that is there keeps the later end. */
int kern_net_add_address(struct kern_net *net, struct kern *k, const struct net_address *address,
			 const struct net_rule *rule, uint64_t expires_ns, struct err *err);

/* Takes the rows back; the sandbox must be gone. NULL is fine. */
void kern_net_release(struct kern_net *net, struct kern *k);

#endif
