/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/net_rows.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/files.h"
#include "kern/files_rows.h"
#include "kern/half.h"
#include "policy/net_table.h"

_Static_assert(NET_TABLE_RANGES == SBX_NET_RANGES,
	       "a row of the table is a row of the kernel half");

static uint16_t protocol_number(enum net_protocol protocol)
{
	return protocol == NET_UDP ? IPPROTO_UDP : IPPROTO_TCP;
}

/* ---- addresses and ports ---------------------------------------------------------------------------- */

static void add_address(struct net_rows *rows, const struct net_row *row)
{
	struct sbx_net_key *key = &rows->keys[rows->count];
	struct sbx_net_ports *ports = &rows->ports[rows->count++];

	*key = (struct sbx_net_key){ .prefixlen = SBX_NET_KEY_BITS + row->prefix,
				     .version = row->address.version,
				     .generation = rows->generation };
	memcpy(key->address, row->address.bytes, sizeof(key->address));
	ports->count = (uint32_t)row->count;
	for (size_t i = 0; i < row->count; i++)
		ports->ranges[i] =
			(struct sbx_net_range){ row->ranges[i].first, row->ranges[i].last,
						protocol_number(row->ranges[i].protocol), 0 };
}

static void add_port(struct net_rows *rows, uint16_t port)
{
	rows->keys[rows->count++] =
		(struct sbx_net_key){ .prefixlen = SBX_NET_KEY_BITS + 16,
				      .version = SBX_NET_PORT,
				      .generation = rows->generation,
				      .address = { (uint8_t)(port >> 8), (uint8_t)port } };
}

static int make_addresses(struct net_rows *rows, const struct net_policy *policy, struct err *err)
{
	struct net_table table;
	int rc = net_table_make(&table, policy, err);
	size_t most = rc < 0 ? 0 : table.count + policy->bind_count + 1;

	if (rc < 0)
		return rc;
	rows->keys = calloc(most, sizeof(*rows->keys));
	rows->ports = calloc(most, sizeof(*rows->ports));
	if (rows->keys && rows->ports) {
		for (size_t i = 0; i < table.count; i++)
			add_address(rows, &table.rows[i]);
		for (size_t i = 0; i < policy->bind_count; i++)
			add_port(rows, policy->binds[i].port);
	} else {
		rc = err_set(err, -ENOMEM, "make the rows of the network policy");
	}
	net_table_done(&table);
	return rc;
}

/* ---- unix sockets ----------------------------------------------------------------------------------- */

/* As bpf/net_lsm.bpf.c has it. */
static uint64_t name_hash(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3ull;
	return hash | 1;
}

static int open_below(int root, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, root, path[0] ? path : ".", &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static uint64_t inode_of(struct kern *k, int fd)
{
	struct sbx_fs_inode at = { 0 };
	int prog = half_fd(k, HALF_FS_INODES);

	return fd < 0 || prog < 0 || files_inodes(prog, &fd, 1, &at) ? 0 : at.inode;
}

static void add_unix(struct net_rows *rows, uint64_t inode, uint64_t hash, const char *name)
{
	struct sbx_net_unix_key *key = &rows->unixes[rows->unix_count];

	if (!inode && !hash)
		return;
	rows->unix_count++;
	*key = (struct sbx_net_unix_key){ .generation = rows->generation,
					  .inode = inode,
					  .hash = hash };
	strncpy(key->name, name, sizeof(key->name) - 1);
}

/* By its name in its directory, so that a server may start anew, and by itself, where its name is a link
 * or too long. */
static int add_path(struct net_rows *rows, struct kern *k, int root, const char *path,
		    struct err *err)
{
	const char *slash = strrchr(path, '/');
	own_str parent = strndup(path, (size_t)(slash - path));
	own_fd dir = -1, self = -1;
	size_t before = rows->unix_count;

	if (!parent)
		return err_set(err, -ENOMEM, "make the rows of the network policy");
	dir = open_below(root, parent + (parent[0] == '/'));
	self = open_below(root, path + 1);
	if (strlen(slash + 1) < SBX_NET_UNIX_NAME)
		add_unix(rows, inode_of(k, dir), 0, slash + 1);
	add_unix(rows, inode_of(k, self), 0, "");
	if (rows->unix_count == before)
		return err_say(err, ERR_NOT_FOUND, -ENOENT,
			       "unix socket '%.200s': neither it nor its directory is there", path);
	return 0;
}

static int make_unixes(struct net_rows *rows, struct kern *k, const struct net_policy *policy,
		       pid_t pid, struct err *err)
{
	own_fd root = -1;
	const char *why;
	char path[48];
	int rc = 0;

	if (!policy->unix_count || !kern_net_lsm(k))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_set(err, -errno, "open '%s'", path);
	rows->unixes = calloc(2 * policy->unix_count, sizeof(*rows->unixes));
	if (!rows->unixes)
		return err_set(err, -ENOMEM, "make the rows of the network policy");
	for (size_t i = 0; i < policy->unix_count && !rc; i++) {
		const struct net_unix *un = &policy->unixes[i];

		if (un->abstract)
			add_unix(rows, 0, name_hash(un->name), "");
		else if (files_available(k, &why)) /* they know an inode's address */
			rc = add_path(rows, k, root, un->name, err);
		else
			rc = err_cannot(err, "network_restriction", "%s", why);
	}
	return rc;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

int net_rows_make(struct net_rows *rows, struct kern *k, const struct net_policy *policy,
		  const struct kern_net_opts *opts, struct err *err)
{
	int rc;

	rows->generation = kern_id_new() << SBX_NET_FLAGS_BITS | (opts->audit ? SBX_NET_AUDIT : 0);
	rc = make_addresses(rows, policy, err);
	return rc ? rc : make_unixes(rows, k, policy, opts->pid, err);
}

void net_rows_done(struct net_rows *rows)
{
	free(rows->keys);
	free(rows->ports);
	free(rows->unixes);
	*rows = (struct net_rows){ 0 };
}

static int insert_once(const struct net_rows *rows, struct kern *k)
{
	int rules = half_fd(k, HALF_NET_RULES), unixes = half_fd(k, HALF_NET_UNIX);
	uint32_t one = 1, count = (uint32_t)rows->count;

	if (rules < 0 || unixes < 0)
		return rules < 0 ? rules : unixes;
	if (count && bpf_map_update_batch(rules, rows->keys, rows->ports, &count, NULL))
		return -errno;
	for (size_t i = 0; i < rows->unix_count; i++)
		if (bpf_map_update_elem(unixes, &rows->unixes[i], &one, BPF_ANY))
			return errno == E2BIG ? -ENOSPC : -errno;
	return 0;
}

void net_rows_delete(const struct net_rows *rows, struct kern *k)
{
	int rules = half_fd(k, HALF_NET_RULES), unixes = half_fd(k, HALF_NET_UNIX);

	/* A batch ends at a row that is not there. */
	for (size_t i = 0; rules >= 0 && i < rows->count; i++) {
		uint32_t count = (uint32_t)(rows->count - i);

		bpf_map_delete_batch(rules, rows->keys + i, &count, NULL);
		i += count;
	}
	for (size_t i = 0; unixes >= 0 && i < rows->unix_count; i++)
		bpf_map_delete_elem(unixes, &rows->unixes[i]);
}

/* ---- what dead keepers left --------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Generations that are in force or being filled, and ids, of all sandboxes. */
static size_t live_numbers(struct kern *k, uint64_t *live)
{
	own_mem uint64_t *ids = calloc(SBX_MAX_SANDBOXES, sizeof(*ids));
	size_t count = SBX_MAX_SANDBOXES, n = 0;
	struct sbx_sandbox row;

	if (!ids || kern_sandbox_list(k, ids, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (kern_sandbox_read(k, ids[i], &row))
			continue;
		live[n++] = row.net_generation;
		live[n++] = row.net_next;
		live[n++] = row.id;
	}
	qsort(live, n, sizeof(*live), by_number);
	return n;
}

/* The keys are read before the sandboxes: whoever has rows by then has claimed them. `at` is where a key
 * has its generation, or its sandbox. */
static void sweep_map(struct kern *k, int fd, size_t size, size_t at, size_t most)
{
	own_mem uint64_t *live = calloc(3 * SBX_MAX_SANDBOXES, sizeof(*live));
	own_mem char *keys = calloc(most, size);
	const char *last = NULL;
	uint64_t number;
	size_t count = 0, n;

	if (fd < 0 || !live || !keys)
		return;
	while (count < most && !bpf_map_get_next_key(fd, last, keys + count * size))
		last = keys + count++ * size;
	n = live_numbers(k, live);
	for (size_t i = 0; n && i < count; i++) {
		memcpy(&number, keys + i * size + at, sizeof(number));
		if (!bsearch(&number, live, n, sizeof(*live), by_number))
			bpf_map_delete_elem(fd, keys + i * size);
	}
}

int net_rows_insert(const struct net_rows *rows, struct kern *k)
{
	int rc = insert_once(rows, k);

	if (rc != -ENOSPC)
		return rc;
	sweep_map(k, half_fd(k, HALF_NET_RULES), sizeof(struct sbx_net_key),
		  offsetof(struct sbx_net_key, generation), SBX_MAX_NET_RULES);
	sweep_map(k, half_fd(k, HALF_NET_UNIX), sizeof(struct sbx_net_unix_key),
		  offsetof(struct sbx_net_unix_key, generation), SBX_MAX_NET_UNIX);
	sweep_map(k, half_fd(k, HALF_NET_NAMED), sizeof(struct sbx_net_named_key),
		  offsetof(struct sbx_net_named_key, sandbox), SBX_MAX_NET_NAMED);
	return insert_once(rows, k);
}
