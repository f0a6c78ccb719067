/* SPDX-License-Identifier: Apache-2.0 */
/* net_rows: the rows of one generation of a network policy, as they lie in the kernel half. */
#ifndef KERN_NET_ROWS_H
#define KERN_NET_ROWS_H

#include "kern/net.h"
#include "sbx/net.h"

struct net_rows {
	uint64_t generation;
	struct sbx_net_key *keys;
	struct sbx_net_ports *ports;
	size_t count;
	struct sbx_net_unix_key *unixes; /* two for a path: by name, and by inode while it exists */
	size_t unix_count;
};

/* Inserts nothing. Unix sockets are looked up where the tree of opts->pid sees them; where LSM does not
 * attach there are no rows for them. */
int net_rows_make(struct net_rows *rows, struct kern *k, const struct net_policy *policy,
		  const struct kern_net_opts *opts, struct err *err);
void net_rows_done(struct net_rows *rows);

/* -ENOSPC when a map is full, even after the rows of sandboxes that are gone were removed. What was
 * inserted is the caller's to delete. */
int net_rows_insert(const struct net_rows *rows, struct kern *k);
void net_rows_delete(const struct net_rows *rows, struct kern *k);

/* Addresses that names led one sandbox to. Zero is none. */
struct net_named_entry {
	struct sbx_net_named_key key;
	struct sbx_net_named value;
};
struct net_named {
	struct net_named_entry *list;
	size_t count;
};
int net_named_add(struct net_named *named, struct kern *k, uint64_t sandbox,
		  const struct net_address *address, const struct net_rule *rule,
		  uint64_t expires_ns, struct err *err);
void net_named_release(struct net_named *named, struct kern *k);

#endif
