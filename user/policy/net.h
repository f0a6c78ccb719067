/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net: a network policy as a value. Pure.
 *
 * A rule admits one protocol on a range of ports, towards addresses (`name` NULL) or a name. Rules add
 * up; nothing is denied by rule, since what no rule admits is denied. kern/net publishes address rules to
 * the kernel half; the resolver process answers the names (net_name_admitted) and hands each address it
 * gives out to kern/net with the rule's ports before the answer leaves.
 *
 * Some ranges no wider rule reaches (net_guarded): loopback, private, link-local and the like are admitted
 * by a rule that lies within them, and never by way of a name.
 */
#ifndef POLICY_NET_H
#define POLICY_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define NET_RULES_MAX 4096
#define NET_BINDS_MAX 64
#define NET_UNIX_MAX 64
#define NET_NAME_MAX 253     /* bytes of a host's name, without the dot at its end */
#define NET_ABSTRACT_MAX 107 /* bytes of an abstract socket's name, without the '@' */
#define NET_ADDRESS_TEXT 46  /* bytes net_address_text may write */
#define NET_RULE_TEXT 320    /* bytes net_rule_text may write */

/* NET_UNSAID restricts nothing, as NET_HOST does, but nobody asked for either. */
enum net_mode { NET_UNSAID, NET_NONE, NET_ALLOW, NET_HOST };
enum net_protocol { NET_TCP, NET_UDP };

/* IPv4 in the first four bytes, the rest 0; ::ffff:a.b.c.d is an IPv4 address here. */
struct net_address {
	uint8_t version; /* 4 or 6 */
	uint8_t bytes[16];
};

struct net_rule {
	char *name;  /* lower case, no dot at its end; NULL: `address` and `prefix` hold */
	bool suffix; /* "*.name": every name below it, at any depth, not itself */
	struct net_address address;
	uint8_t prefix; /* bits, 0 to 32 or 128 */
	enum net_protocol protocol;
	uint16_t first, last; /* 1 to 65535 where no port was said */
	char *origin;	      /* "--allow-net", "profile agent, line 9" */
	unsigned int level;   /* enum file_level */
};

struct net_bind {
	uint16_t port; /* TCP and UDP, on every address */
	char *origin;
	unsigned int level;
};

/* A socket of a process outside the tree. */
struct net_unix {
	char *name;    /* a path as written (absolute, or ~/), or a name without the '@' */
	bool abstract; /* the second */
	char *origin;
	unsigned int level;
};

/* While a spec is built: all that was said. After net_policy_settle: what holds, NET_NONE without rules
 * and binds, NET_HOST and NET_UNSAID without anything. */
struct net_policy {
	enum net_mode said;	/* --net; NET_UNSAID: nothing */
	enum net_mode mode;	/* a profile's, until it is settled */
	struct net_rule *rules; /* in the order in which they were said */
	size_t rule_count;
	struct net_bind *binds;
	size_t bind_count;
	struct net_unix *unixes;
	size_t unix_count;
};

void net_policy_done(struct net_policy *policy);

/* Each takes one word of an option or a profile line; the error text begins with it. */
int net_policy_allow(struct net_policy *policy, const char *text, const char *origin,
		     unsigned int level, struct err *err);
int net_policy_bind(struct net_policy *policy, const char *text, const char *origin,
		    unsigned int level, struct err *err);
int net_policy_unix(struct net_policy *policy, const char *text, const char *origin,
		    unsigned int level, struct err *err);
/* Takes out what levels below `level` allowed: a profile said Mode=none or Mode=host over them. */
void net_policy_cut(struct net_policy *policy, unsigned int level);
/* Words of the command line that contradict --net, and exceptions to a policy that there is not, are
 * errors that name their origin. */
int net_policy_settle(struct net_policy *policy, struct err *err);

bool net_policy_has_names(const struct net_policy *policy);
/* The first rule from *at on whose name covers `host` (any case, with or without the dot at its end); *at
 * is then behind it. NULL: no more. A host may have rules for several ports. */
const struct net_rule *net_name_admitted(const struct net_policy *policy, const char *host,
					 size_t *at);
/* Whether an address rule admits it: what the kernel half decides, without names. */
bool net_address_admitted(const struct net_policy *policy, const struct net_address *address,
			  enum net_protocol protocol, uint16_t port);

const char *net_mode_name(enum net_mode mode);		   /* "none" "allow" "host" */
const char *net_protocol_name(enum net_protocol protocol); /* "tcp" "udp" */
/* As it is written on a command line: "10.0.0.0/8:53/udp", "[2001:db8::1]:443", "*.example.org:443". */
void net_rule_text(const struct net_rule *rule, char buf[NET_RULE_TEXT]);

#endif
