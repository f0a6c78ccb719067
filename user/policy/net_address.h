/* SPDX-License-Identifier: Apache-2.0 */
/* net_address: addresses, and the ranges that have to be named themselves. Pure. */
#ifndef POLICY_NET_ADDRESS_H
#define POLICY_NET_ADDRESS_H

#include "policy/net.h"

/* A range that no wider rule reaches. */
struct net_guard {
	struct net_address address;
	uint8_t prefix;
	const char *what; /* "loopback", "private", "link-local", "metadata", "multicast" … */
};
/* IPv6 ranges that carry IPv4 addresses (64:ff9b::/96, 2002::/16) have a row for each IPv4 row. */
const struct net_guard *net_guards(size_t *count);
/* The narrowest one that holds the address; NULL: none. */
const struct net_guard *net_guarded(const struct net_address *address);

/* From network byte order; v4-mapped becomes IPv4. */
struct net_address net_address_v4(const uint8_t bytes[4]);
struct net_address net_address_v6(const uint8_t bytes[16]);
/* "192.0.2.1" or "2001:db8::1"; false when it is neither. */
bool net_address_parse(const char *text, struct net_address *out);
void net_address_text(const struct net_address *address, char buf[NET_ADDRESS_TEXT]);
unsigned int net_address_bits(const struct net_address *address); /* 32 or 128 */
/* Whether `address` is within net/prefix. */
bool net_address_within(const struct net_address *address, const struct net_address *net,
			unsigned int prefix);

#endif
