/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/denials.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "kern/half.h"

static const char *const act_names[SBX_ACT__COUNT] = {
	[SBX_ACT_READ] = "read",	 [SBX_ACT_WRITE] = "write",
	[SBX_ACT_EXECUTE] = "execute",	 [SBX_ACT_CREATE] = "create",
	[SBX_ACT_REMOVE] = "remove",	 [SBX_ACT_RENAME] = "rename",
	[SBX_ACT_LINK] = "link",	 [SBX_ACT_TRUNCATE] = "truncate",
	[SBX_ACT_METADATA] = "metadata", [SBX_ACT_XATTR] = "xattr",
	[SBX_ACT_IOCTL] = "ioctl",	 [SBX_ACT_RECEIVE] = "receive",
	[SBX_ACT_MOUNT] = "mount",	 [SBX_ACT_CONNECT] = "connect",
	[SBX_ACT_SEND] = "send",	 [SBX_ACT_BIND] = "bind",
	[SBX_ACT_LISTEN] = "listen",	 [SBX_ACT_SOCKET] = "socket",
	[SBX_ACT_OPTION] = "option",
};

const char *denials_act_name(enum sbx_act act)
{
	const char *name = (unsigned int)act < SBX_ACT__COUNT ? act_names[act] : NULL;

	return name ? name : "?";
}

struct row {
	struct sbx_denial_key key;
	struct sbx_denial value;
};

struct rows {
	struct row *list;
	size_t count;
};

#define BATCH 64

/* Rows of one sandbox. Those that are made meanwhile may be missed. */
static int collect(int fd, uint64_t id, struct rows *out)
{
	struct batch {
		struct sbx_denial_key keys[BATCH];
		struct sbx_denial values[BATCH];
		__u32 cursor;
	};
	own_mem struct batch *b = malloc(sizeof(*b));
	void *at = NULL;
	int end = 0;

	out->list = calloc(SBX_MAX_DENIALS_PER_SANDBOX, sizeof(*out->list));
	if (!b || !out->list)
		return -ENOMEM;
	while (!end) {
		__u32 n = BATCH;

		if (bpf_map_lookup_batch(fd, at, &b->cursor, b->keys, b->values, &n, NULL)) {
			if (errno != ENOENT)
				return -errno;
			end = 1;
		}
		at = &b->cursor;
		for (__u32 i = 0; i < n && out->count < SBX_MAX_DENIALS_PER_SANDBOX; i++)
			if (b->keys[i].sandbox == id && b->values[i].count)
				out->list[out->count++] = (struct row){ b->keys[i], b->values[i] };
	}
	return 0;
}

static int by_first(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->value.first_ns < y->value.first_ns ? -1 : x->value.first_ns > y->value.first_ns;
}

/* The names lie from the object upwards; a path goes the other way. */
static void names_path(char *to, size_t size, const char *base, const struct sbx_denial *v)
{
	size_t n = SBX_DENIAL_TEXT / SBX_DENIAL_NAME, at;

	if (v->flags & SBX_DENIAL_CUT)
		at = (size_t)snprintf(to, size, "%s/…", base ? base : "");
	else
		at = (size_t)snprintf(to, size, "%s", !base ? "?" : base[1] ? base : "");
	while (n && !v->text[(n - 1) * SBX_DENIAL_NAME])
		n--;
	for (; n && at < size; n--)
		at += (size_t)snprintf(to + at, size - at, "/%.*s", SBX_DENIAL_NAME - 1,
				       v->text + (n - 1) * SBX_DENIAL_NAME);
	if (!*to)
		snprintf(to, size, "/");
}

static void fill_net(struct denial *d, const struct sbx_net_denial *n)
{
	d->address.version = (uint8_t)n->version;
	memcpy(d->address.bytes, n->address, sizeof(d->address.bytes));
	d->family = n->family;
	d->type = n->type;
	d->protocol = n->protocol;
	denials_net_text(n, d->act, d->path, sizeof(d->path));
}

static void fill(struct denial *d, const struct row *r, denials_rule_path *rule_path, void *arg)
{
	const struct sbx_denial *v = &r->value;

	*d = (struct denial){
		.act = (enum sbx_act)r->key.act,
		.rule = r->key.rule,
		.error = (int)v->error,
		.pid = v->pid,
		.count = v->count,
		.first_ns = v->first_ns,
		.last_ns = v->last_ns,
		.start_ns = v->start_ns,
		.audit = v->flags & SBX_DENIAL_AUDIT,
		.net = v->flags & SBX_DENIAL_NET,
		.syscall = v->flags & SBX_DENIAL_SYSCALL,
	};
	memcpy(d->comm, v->comm, sizeof(d->comm));
	d->comm[sizeof(d->comm) - 1] = 0;
	if (d->net)
		fill_net(d, (const struct sbx_net_denial *)v->text);
	else if (v->flags & SBX_DENIAL_NAMES)
		names_path(d->path, sizeof(d->path),
			   r->key.rule == SBX_NO_RULE ? NULL : rule_path(arg, r->key.rule, v->dev),
			   v);
	else
		snprintf(d->path, sizeof(d->path), "%.*s", SBX_DENIAL_TEXT, v->text);
}

/* The walk takes in the rows of all sandboxes; few have any. */
static bool has_none(struct kern *k, uint64_t id)
{
	struct sbx_sandbox row;

	return kern_sandbox_read(k, id, &row) == 0 && !row.denial_rows;
}

int denials_each(struct kern *k, uint64_t id, denials_rule_path *rule_path,
		 int (*fn)(void *arg, const struct denial *denial), void *arg)
{
	int fd = half_fd(k, HALF_DENIALS), rc;
	struct rows rows = { 0 };
	struct denial d;

	if (has_none(k, id))
		return 0;
	rc = fd < 0 ? fd : collect(fd, id, &rows);
	qsort(rows.list, rows.count, sizeof(*rows.list), by_first);
	for (size_t i = 0; i < rows.count && !rc; i++) {
		fill(&d, &rows.list[i], rule_path, arg);
		rc = fn(arg, &d);
	}
	free(rows.list);
	return rc;
}

int denials_total(struct kern *k, uint64_t id, uint64_t *total, uint64_t *dropped)
{
	struct sbx_sandbox row;
	int rc = kern_sandbox_read(k, id, &row);

	if (rc)
		return rc;
	*total = row.denials;
	*dropped = row.denials_dropped;
	return 0;
}

void denials_forget(struct kern *k, uint64_t id)
{
	int fd = half_fd(k, HALF_DENIALS);
	struct rows rows = { 0 };

	if (fd >= 0 && !has_none(k, id) && !collect(fd, id, &rows))
		for (size_t i = 0; i < rows.count; i++)
			bpf_map_delete_elem(fd, &rows.list[i].key);
	free(rows.list);
}
