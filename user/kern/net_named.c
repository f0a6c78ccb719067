/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "kern/half.h"
#include "kern/net_rows.h"
#include "policy/net_address.h"

static struct net_named_entry *find(struct net_named *named, const struct sbx_net_named_key *key)
{
	for (size_t i = 0; i < named->count; i++)
		if (!memcmp(&named->list[i].key, key, sizeof(*key)))
			return &named->list[i];
	return NULL;
}

static bool is_over(const struct net_named_entry *entry, uint64_t now)
{
	for (uint32_t i = 0; i < entry->value.ports.count; i++)
		if (entry->value.expires_ns[i] > now)
			return false;
	return true;
}

/* Takes out what has ended. */
static void expire(struct net_named *named, int fd)
{
	uint64_t now = clock_boot_ns();
	size_t kept = 0;

	for (size_t i = 0; i < named->count; i++) {
		if (is_over(&named->list[i], now))
			bpf_map_delete_elem(fd, &named->list[i].key);
		else
			named->list[kept++] = named->list[i];
	}
	named->count = kept;
}

/* The entry of an address, a fresh one where there is none; NULL: full. */
static struct net_named_entry *place(struct net_named *named, int fd,
				     const struct sbx_net_named_key *key)
{
	struct net_named_entry *entry = find(named, key), *grown;

	if (entry)
		return entry;
	if (named->count == SBX_MAX_NET_NAMED_PER_SANDBOX)
		expire(named, fd);
	if (named->count == SBX_MAX_NET_NAMED_PER_SANDBOX)
		return NULL;
	grown = reallocarray(named->list, named->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	named->list = grown;
	entry = &grown[named->count++];
	*entry = (struct net_named_entry){ .key = *key };
	return entry;
}

static int put_range(struct sbx_net_named *value, const struct sbx_net_range *range,
		     uint64_t expires_ns)
{
	struct sbx_net_ports *ports = &value->ports;
	uint64_t now = clock_boot_ns();
	uint32_t at = ports->count;

	for (uint32_t i = 0; i < ports->count; i++) {
		if (!memcmp(&ports->ranges[i], range, sizeof(*range))) {
			if (value->expires_ns[i] < expires_ns)
				value->expires_ns[i] = expires_ns;
			return 0;
		}
		if (value->expires_ns[i] <= now)
			at = i;
	}
	if (at == SBX_NET_RANGES)
		return -ENOSPC;
	ports->ranges[at] = *range;
	value->expires_ns[at] = expires_ns;
	ports->count += at == ports->count;
	return 0;
}

static int full(struct err *err)
{
	return err_say(
		err, ERR_BUSY, -ENOSPC,
		"no room for another address behind a name: at most %d a sandbox, and %d ranges "
		"of ports each",
		SBX_MAX_NET_NAMED_PER_SANDBOX, SBX_NET_RANGES);
}

int net_named_add(struct net_named *named, struct kern *k, uint64_t sandbox,
		  const struct net_address *address, const struct net_rule *rule,
		  uint64_t expires_ns, struct err *err)
{
	const struct sbx_net_range range = { rule->first, rule->last,
					     rule->protocol == NET_UDP ? IPPROTO_UDP : IPPROTO_TCP,
					     0 };
	const struct net_guard *guard = net_guarded(address);
	struct sbx_net_named_key key = { .sandbox = sandbox, .version = address->version };
	int fd = half_fd(k, HALF_NET_NAMED);
	struct net_named_entry *entry;

	if (guard)
		return err_say(err, ERR_VALIDATION, -EACCES,
			       "a name leads to a %s address; such a one is only reached by an "
			       "address rule of its own",
			       guard->what);
	if (fd < 0)
		return err_set(err, fd, "open the addresses behind names");
	memcpy(key.address, address->bytes, sizeof(key.address));
	entry = place(named, fd, &key);
	if (!entry || put_range(&entry->value, &range, expires_ns) ||
	    bpf_map_update_elem(fd, &entry->key, &entry->value, BPF_ANY))
		return full(err);
	return 0;
}

void net_named_release(struct net_named *named, struct kern *k)
{
	int fd = half_fd(k, HALF_NET_NAMED);

	for (size_t i = 0; fd >= 0 && i < named->count; i++)
		bpf_map_delete_elem(fd, &named->list[i].key);
	free(named->list);
	*named = (struct net_named){ 0 };
}
