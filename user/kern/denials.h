/* SPDX-License-Identifier: Apache-2.0 */
/*
 * denials: what the kernel half refused to a sandbox, aggregated by act, object and rule.
 */
#ifndef KERN_DENIALS_H
#define KERN_DENIALS_H

#include "kern/kern.h"
#include "policy/net.h"
#include "sbx/denial.h"
#include "sbx/net.h"

struct denial {
	enum sbx_act act;
	char path
		[4096]; /* for people: where the rule's object and the names lead, or as the program
			  * said it; "?" for what is not known */
	uint32_t rule;	/* index in the policy, SBX_NO_RULE */
	int error;	/* positive errno */
	uint32_t pid;	/* initial pid namespace */
	char comm[SBX_COMM];
	uint64_t count, first_ns, last_ns, start_ns;
	bool audit; /* logged, not refused */
	bool net;   /* `path` is an address, a socket's name or kind: as --allow-net, --allow-unix
		       * or --allow-bind take it, where one of them would have allowed it */
	struct net_address address;	 /* of the network, version 0: none */
	uint32_t family, type, protocol; /* of the socket */
	bool syscall;			 /* seen at a system call's end: advisory */
};

/* Where names that rule `index` decided on begin, on file system `dev` (files_place, or the rule's path); NULL when
 * there is no such rule. */
typedef const char *denials_rule_path(void *arg, uint32_t index, uint32_t dev);

/* Calls fn for every row of sandbox `id`, oldest first. A return other than 0 ends the walk and is
 * returned. */
int denials_each(struct kern *k, uint64_t id, denials_rule_path *rule_path,
		 int (*fn)(void *arg, const struct denial *denial), void *arg);

/* Acts refused in all, and how many of them have no row because the map was full. */
int denials_total(struct kern *k, uint64_t id, uint64_t *total, uint64_t *dropped);

/* Removes the rows of a sandbox that nobody lives in any more, before it is deleted: its own row tells whether there
 * are any. Idempotent. */
void denials_forget(struct kern *k, uint64_t id);

/* What a row of the network was about. */
void denials_net_text(const struct sbx_net_denial *net, enum sbx_act act, char *buf, size_t size);

const char *denials_act_name(enum sbx_act act); /* "read", "write", "execute" … */

#endif
