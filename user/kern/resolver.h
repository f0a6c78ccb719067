/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolver: the name service of one tree whose policy names hosts, in a process of its own.
 *
 * It listens on port 53 of an address of this host's loopback that no other tree has, asks the host's
 * name servers (c-ares), and answers for names that the policy admits, alone. What is refused it tells the
 * keeper; what it answers the keeper hears first, and agrees to before the answer leaves. The process
 * reads what anybody sends: it has no rights, a uid of nobody's, and a filter on its system calls. The
 * keeper believes nothing it says without looking at the policy again. It ends with the keeper.
 */
#ifndef KERN_RESOLVER_H
#define KERN_RESOLVER_H

#include <sys/types.h>

#include "base/err.h"
#include "policy/dns.h"

#define RESOLVER_PORT 53
#define RESOLVER_TTL_MIN 60   /* seconds that an address is admitted for, at least … */
#define RESOLVER_TTL_MAX 3600 /* … and at most; answers say no more */
#define RESOLVER_MARGIN 30    /* … and so much longer than the answer says */

struct resolver {
	pid_t pid;
	int pidfd;
	int channel; /* readable: resolver_next */
	struct net_address address;
};
#define RESOLVER_NONE                      \
	{                                  \
		.pidfd = -1, .channel = -1 \
	}

enum resolver_kind {
	RESOLVER_READY,
	RESOLVER_FOUND,	  /* name and addresses: to be admitted, then resolver_agree */
	RESOLVER_REFUSED, /* no rule has that name */
	RESOLVER_REBOUND, /* it leads to a guarded range: addresses[0] */
	RESOLVER_FAILED,  /* no answer from upstream; `why` */
};

struct resolver_word {
	uint32_t kind;	  /* enum resolver_kind */
	uint32_t seconds; /* how long the addresses are to be admitted */
	uint32_t address_count;
	struct net_address addresses[DNS_ADDRESSES_MAX];
	char name[NET_NAME_MAX + 1]; /* as text; longer ones and odd bytes are cut short */
	char why[64];
};

/* `policy` outlives the process, which has a copy. Must not be called while a sandbox waits for its first
 * process. */
int resolver_start(struct resolver *r, const struct net_policy *policy, struct err *err);
/* 1 and a word, checked to be whole; 0: none now; negative: it has ended. Never waits. */
int resolver_next(struct resolver *r, struct resolver_word *word);
/* What becomes of the last RESOLVER_FOUND: its answer leaves, or the name cannot be resolved. */
void resolver_agree(struct resolver *r, bool admitted);
/* Idempotent. */
void resolver_stop(struct resolver *r);

#endif
