/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns: messages of the name service, as far as a resolver for one tree needs them: a query, the addresses
 * in what the upstream said, and the answer made of them. Pure; bytes come from anybody.
 *
 * What leads from the name that was asked for to its addresses is kept (aliases); whatever else an upstream
 * adds is not passed on.
 */
#ifndef POLICY_DNS_H
#define POLICY_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/net.h"

#define DNS_MESSAGE_MAX 65535
#define DNS_UDP_MAX 1232   /* bytes of an answer that is not cut, where the client takes as many */
#define DNS_NAME_BYTES 255 /* on the wire */
#define DNS_NAME_TEXT 1025 /* every byte of it written as \DDD */
#define DNS_ALIASES_MAX 12 /* a longer chain is no answer */
#define DNS_ADDRESSES_MAX 32 /* of one name and kind; the rest is left out */

enum dns_type { DNS_A = 1, DNS_AAAA = 28 };
enum dns_rcode { DNS_OK, DNS_FORMERR, DNS_SERVFAIL, DNS_NXDOMAIN, DNS_NOTIMP, DNS_REFUSED };

struct dns_name {
	uint8_t bytes[DNS_NAME_BYTES]; /* length-prefixed labels, the empty one included */
	uint8_t len;
};

struct dns_query {
	uint16_t id;
	bool recursion; /* desired */
	bool edns;
	uint16_t udp_bytes; /* that the client takes over UDP */
	uint16_t type, class;
	struct dns_name name;	  /* as it was written */
	char text[DNS_NAME_TEXT]; /* lower case, without the dot at its end; odd bytes as \DDD */
};

struct dns_answer {
	enum dns_rcode rcode;
	uint32_t ttl;				  /* seconds, the least of all that is in it */
	struct dns_name aliases[DNS_ALIASES_MAX]; /* what each name before is an alias of */
	size_t alias_count;
	struct net_address addresses[DNS_ADDRESSES_MAX]; /* of the last alias, or of the name */
	size_t address_count;
};

/* 0, or -EBADMSG: no query of which an answer could be made, to be dropped. A query that is answered with
 * an error is 0 and *rcode that error: then only id and flags hold. */
int dns_query_parse(const uint8_t *bytes, size_t len, struct dns_query *query,
		    enum dns_rcode *rcode);

/* What an upstream answered to that question. -EBADMSG when it is no answer to it, or cut. A name without
 * addresses of that type is DNS_OK without any. */
int dns_answer_parse(const uint8_t *bytes, size_t len, const struct dns_query *query,
		     struct dns_answer *answer);

/* Whether an address that a name leads to lies in a guarded range that no address rule opens: whoever has the
 * name could otherwise lead the tree to what is on this host or beside it. */
bool dns_rebinds(const struct net_policy *policy, const struct net_address *address);

/* The answer to a query, over UDP cut to what the client takes. Bytes written, at most `size`, which must be at
 * least 512. */
size_t dns_answer_write(const struct dns_query *query, const struct dns_answer *answer, bool udp,
			uint8_t *out, size_t size);

#endif
