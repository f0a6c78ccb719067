/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The canonical form: "sbx-spec-v1", then for each field its tag and its bytes, each behind its
 * length as 8 bytes little-endian, so that no two specs share an encoding. Lists whose order means
 * nothing are sorted. Where a limit came from is not part of it: the same numbers are the same
 * policy.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/sha256.h"
#include "policy/spec.h"

static void add_bytes(struct sha256 *sha, const void *bytes, size_t len)
{
	unsigned char size[8];

	for (int i = 0; i < 8; i++)
		size[i] = (unsigned char)((uint64_t)len >> (8 * i));
	sha256_add(sha, size, sizeof(size));
	sha256_add(sha, bytes, len);
}

static void add_text(struct sha256 *sha, const char *tag, const char *text)
{
	/* NULL and "" differ: an absent field has no bytes at all. */
	if (!text)
		return;
	add_bytes(sha, tag, strlen(tag));
	add_bytes(sha, text, strlen(text));
}

static void add_number(struct sha256 *sha, const char *tag, uint64_t value)
{
	unsigned char bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(value >> (8 * i));
	add_bytes(sha, tag, strlen(tag));
	add_bytes(sha, bytes, sizeof(bytes));
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_pairs(const void *a, const void *b)
{
	return strcmp(((const struct spec_pair *)a)->name, ((const struct spec_pair *)b)->name);
}

/* A sorted copy of the pointers; NULL for an empty list or when out of memory. */
static void *sorted(const void *list, size_t count, size_t size,
		    int (*compare)(const void *, const void *))
{
	void *copy = count ? malloc(count * size) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, list, count * size);
	qsort(copy, count, size, compare);
	return copy;
}

static int add_set(struct sha256 *sha, const char *tag, char *const *texts, size_t count)
{
	own_mem char **copy = sorted(texts, count, sizeof(*copy), compare_texts);

	if (count && !copy)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (!i || strcmp(copy[i], copy[i - 1]) != 0)
			add_text(sha, tag, copy[i]);
	return 0;
}

static int add_env(struct sha256 *sha, const struct spec *spec)
{
	own_mem struct spec_pair *copy =
		sorted(spec->env, spec->env_count, sizeof(*copy), compare_pairs);

	if (spec->env_count && !copy)
		return -ENOMEM;
	for (size_t i = 0; i < spec->env_count; i++) {
		add_text(sha, "env", copy[i].name);
		add_text(sha, "env.value", copy[i].value);
		if (copy[i].optional)
			add_number(sha, "env.optional", true);
	}
	return 0;
}

static void add_limits(struct sha256 *sha, const struct spec *spec)
{
	for (int id = 0; id < LIMIT__COUNT; id++)
		if (limit_in_force(&spec->limits[id]))
			add_number(sha, limit_table[id].name, spec->limits[id].value);
}

static void add_numbers(struct sha256 *sha, const struct spec *spec)
{
	const struct {
		const char *tag;
		uint64_t value;
	} rows[] = {
		{ "kill_after", spec->kill_after_ns },
		{ "signal", (uint64_t)spec->stop_signal },
		{ "pass_path", spec->pass_path },
		{ "keep_groups", spec->keep_groups },
		{ "stdin", spec->stdin_mode },
		{ "pty", spec->pty },
		{ "spill_at", spec->spill_at_bytes },
		{ "preview", spec->preview_bytes },
		{ "pid_ns", spec->pid_ns },
		{ "owner", spec->owner_mode },
		{ "owner.arg", (uint64_t)spec->owner_arg },
		{ "leftovers", spec->leftovers },
		{ "workdir", spec->workdir_mode },
		{ "private_tmp", spec->private_tmp },
		{ "audit", spec->audit },
		{ "drop_privileges", spec->drop_privileges },
		{ "cache_private", spec->cache_private },
		{ "net", spec->net.mode },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		add_number(sha, rows[i].tag, rows[i].value);
}

static void add_texts(struct sha256 *sha, const struct spec *spec)
{
	add_text(sha, "shell", spec->shell);
	for (size_t i = 0; i < spec->argc; i++)
		add_text(sha, "argv", spec->argv[i]);
	add_text(sha, "user", spec->user);
	add_text(sha, "group", spec->group);
	add_text(sha, "stdin.file", spec->stdin_file);
	add_text(sha, "cgroup_parent", spec->cgroup_parent);
	add_text(sha, "profile", spec->profile);
	add_text(sha, "workdir.path", spec->workdir);
	add_text(sha, "chdir", spec->chdir);
	add_text(sha, "cache", spec->cache);
}

static int compare_wishes(const void *a, const void *b)
{
	const struct file_wish *one = a, *other = b;
	int order = strcmp(one->path, other->path);

	if (!order)
		order = (int)one->level - (int)other->level;
	if (!order)
		order = (int)one->verb - (int)other->verb;
	return order ? order : one->optional - other->optional;
}

/* Their order means nothing, and where they were said neither. */
static int add_files(struct sha256 *sha, const struct spec *spec)
{
	own_mem struct file_wish *copy =
		sorted(spec->files, spec->file_count, sizeof(*copy), compare_wishes);

	if (spec->file_count && !copy)
		return -ENOMEM;
	for (size_t i = 0; i < spec->file_count; i++) {
		if (i && !compare_wishes(&copy[i - 1], &copy[i]))
			continue;
		add_text(sha, "file", copy[i].path);
		add_number(sha, "file.how",
			   (uint64_t)copy[i].level << 8 | (uint64_t)copy[i].optional << 4 |
				   copy[i].verb);
	}
	return 0;
}

static int compare_rules(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int add_net(struct sha256 *sha, const struct net_policy *net)
{
	own_mem char(*texts)[NET_RULE_TEXT] = calloc(net->rule_count + 1, sizeof(*texts));

	if (!texts)
		return -ENOMEM;
	for (size_t i = 0; i < net->rule_count; i++)
		net_rule_text(&net->rules[i], texts[i]);
	qsort(texts, net->rule_count, sizeof(*texts), compare_rules);
	for (size_t i = 0; i < net->rule_count; i++)
		if (!i || strcmp(texts[i], texts[i - 1]) != 0)
			add_text(sha, "net.allow", texts[i]);
	for (size_t i = 0; i < net->bind_count; i++)
		add_number(sha, "net.bind", net->binds[i].port);
	for (size_t i = 0; i < net->unix_count; i++)
		add_text(sha, net->unixes[i].abstract ? "net.abstract" : "net.unix",
			 net->unixes[i].name);
	return 0;
}

/* A later mount may stand on an earlier one: in the order they were said. */
static void add_mounts(struct sha256 *sha, const struct spec *spec)
{
	for (size_t i = 0; i < spec->mount_count; i++) {
		add_text(sha, "mount", spec->mounts[i].source);
		add_text(sha, "mount.target", spec->mounts[i].target);
		add_number(sha, "mount.read_only", spec->mounts[i].read_only);
	}
}

int spec_digest(const struct spec *spec, char out[65], struct err *err)
{
	struct sha256 sha;
	int r;

	sha256_init(&sha);
	add_bytes(&sha, "sbx-spec-v1", strlen("sbx-spec-v1"));
	add_limits(&sha, spec);
	add_numbers(&sha, spec);
	add_texts(&sha, spec);
	add_mounts(&sha, spec);
	r = add_env(&sha, spec);
	if (!r)
		r = add_files(&sha, spec);
	if (!r)
		r = add_net(&sha, &spec->net);
	if (!r)
		r = add_set(&sha, "pass_env", spec->pass_env, spec->pass_env_count);
	if (!r)
		r = add_set(&sha, "allow_reduced", spec->allow_reduced, spec->allow_reduced_count);
	if (r < 0)
		return err_set(err, r, "name the spec");

	sha256_hex(&sha, out);
	return 0;
}
