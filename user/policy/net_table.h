/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_table: the address rules of a policy as rows of which the one with the longest prefix decides
 * alone: it has all ports that any rule around it admits. Ranges that no wider rule reaches have a row
 * without ports. Pure.
 */
#ifndef POLICY_NET_TABLE_H
#define POLICY_NET_TABLE_H

#include "policy/net.h"

#define NET_TABLE_RANGES 16 /* of ports, in one row */

struct net_range {
	enum net_protocol protocol;
	uint16_t first, last;
};

struct net_row {
	struct net_address address;
	uint8_t prefix;
	size_t outer; /* the row nearest around it, counted from 1; 0: none */
	size_t count;
	struct net_range ranges[NET_TABLE_RANGES]; /* sorted, neither adjacent nor overlapping */
};

struct net_table {
	struct net_row *rows; /* sorted by address, then prefix */
	size_t count;
};

/* -E2BIG when one address has more than NET_TABLE_RANGES ranges; the table is then empty. */
int net_table_make(struct net_table *table, const struct net_policy *policy, struct err *err);
void net_table_done(struct net_table *table);
/* Joins what overlaps or is adjacent, of `count` ranges in any order; returns how many are left. */
size_t net_ranges_join(struct net_range *ranges, size_t count);

#endif
