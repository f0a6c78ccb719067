/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "policy/profile_chain.h"
#include "policy/profile_key.h"

bool profile_chain_name_valid(const char *name)
{
	if (strlen(name) > PROFILE_NAME_MAX || !isalnum((unsigned char)*name))
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("-_.", *name))
			return false;
	return true;
}

void profile_chain_done(struct profile_chain *chain)
{
	for (size_t i = 0; i < chain->count; i++)
		profile_done(&chain->profiles[i]);
	chain->count = 0;
}

/* ---- reading --------------------------------------------------------------------------------------- */

static bool same_profile(const struct profile *p, const char *name, const char *source)
{
	if (p->source && source)
		return !strcmp(p->source, source);
	return !p->source && !source && !strcmp(p->name, name);
}

static int add_text(struct profile_chain *chain, const char *name, const char *source,
		    const char *text, size_t len, struct err *err)
{
	int r;

	for (size_t i = 0; i < chain->count; i++)
		if (same_profile(&chain->profiles[i], name, source))
			return err_say(err, ERR_VALIDATION, -ELOOP,
				       "profile %s extends itself, by way of %s", name,
				       chain->profiles[chain->count - 1].name);
	if (chain->count == PROFILE_CHAIN_MAX)
		return err_say(err, ERR_VALIDATION, -ELOOP,
			       "profile %s extends more than %d others", chain->profiles[0].name,
			       PROFILE_CHAIN_MAX - 1);
	r = profile_parse(&chain->profiles[chain->count], name, source, text, len, err);
	chain->count += !r;
	return r;
}

static int add_named(struct profile_chain *chain, const char *name, profile_find_fn *find,
		     void *arg, struct err *err)
{
	own_str text = NULL;
	own_str source = NULL;
	size_t len = 0;
	int r;

	r = find(arg, name, &text, &len, &source, err);
	if (r == -ENOENT)
		return err_say(err, ERR_NOT_FOUND, r,
			       "no profile is called '%.80s'; `sbxctl profile list` lists them",
			       name);
	return r ? r : add_text(chain, name, source, text, len, err);
}

/* What the last one extends, until one extends nothing. */
static int follow(struct profile_chain *chain, profile_find_fn *find, void *arg, struct err *err)
{
	int r = 0;

	while (!r) {
		const struct profile *last = &chain->profiles[chain->count - 1];
		char place[256];

		if (!last->extends)
			return 0;
		profile_origin(last, last->extends_line, 1, place, sizeof(place));
		r = add_named(chain, last->extends, find, arg, err);
		if (r == -ENOENT || r == -ELOOP)
			err_prefix(err, "%s", place);
	}
	return r;
}

int profile_chain_read_text(struct profile_chain *chain, const char *name, const char *source,
			    const char *text, size_t len, profile_find_fn *find, void *arg,
			    struct err *err)
{
	int r;

	chain->count = 0;
	r = add_text(chain, name, source, text, len, err);
	if (!r)
		r = follow(chain, find, arg, err);
	if (r < 0)
		profile_chain_done(chain);
	return r;
}

int profile_chain_read(struct profile_chain *chain, const char *name, profile_find_fn *find,
		       void *arg, struct err *err)
{
	int r;

	chain->count = 0;
	r = add_named(chain, name, find, arg, err);
	if (!r)
		r = follow(chain, find, arg, err);
	if (r < 0)
		profile_chain_done(chain);
	return r;
}

/* ---- applying -------------------------------------------------------------------------------------- */

struct entry {
	const struct profile_setting *setting;
	const struct profile *profile;
	unsigned int level;
};

struct merged {
	struct entry *entries;
	size_t count;
};

/* What holds one value at a time: a key that is no list, a variable. */
static bool same_slot(const struct profile_setting *one, const struct profile_setting *other)
{
	size_t len = strcspn(one->value, "=");

	if (one->key != other->key)
		return false;
	if (!one->key->list)
		return true;
	return !strcmp(one->key->arg, "NAME=VALUE") && strcspn(other->value, "=") == len &&
	       !strncmp(one->value, other->value, len);
}

static void reset(struct merged *m, const struct profile_key *key)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->count; i++)
		if (m->entries[i].setting->key != key)
			m->entries[kept++] = m->entries[i];
	m->count = kept;
}

static int contradiction(const struct entry *was, const struct entry *is, struct err *err)
{
	char one[256], other[256];

	profile_origin(is->profile, is->setting->line, is->setting->column, one, sizeof(one));
	profile_origin(was->profile, was->setting->line, was->setting->column, other,
		       sizeof(other));
	return err_say(err, ERR_VALIDATION, -EINVAL, "%s: %s= contradicts %s", one,
		       is->setting->key->name, other);
}

static int merge(struct merged *m, const struct entry *entry, struct err *err)
{
	if (!entry->setting->value) {
		reset(m, entry->setting->key);
		return 0;
	}
	for (size_t i = 0; i < m->count; i++) {
		struct entry *was = &m->entries[i];

		if (!same_slot(was->setting, entry->setting))
			continue;
		if (was->level == entry->level &&
		    strcmp(was->setting->value, entry->setting->value) != 0)
			return contradiction(was, entry, err);
		m->count--;
		memmove(was, was + 1, (m->count - i) * sizeof(*was));
		break;
	}
	m->entries[m->count++] = *entry;
	return 0;
}

/* The extended ones first: what is said later stands over it. */
static int merge_all(struct merged *m, const struct profile_chain *chain, struct err *err)
{
	size_t total = 1;
	int r = 0;

	for (size_t i = 0; i < chain->count; i++)
		total += chain->profiles[i].count;
	m->entries = calloc(total, sizeof(*m->entries));
	if (!m->entries)
		return err_set(err, -ENOMEM, "apply a profile");
	for (size_t i = chain->count; i-- && !r;) {
		const struct profile *p = &chain->profiles[i];
		struct entry entry = { .profile = p };

		entry.level = FILE_LEVEL_PROFILE + (unsigned int)(chain->count - 1 - i);
		for (size_t j = 0; j < p->count && !r; j++) {
			entry.setting = &p->settings[j];
			r = merge(m, &entry, err);
		}
	}
	return r;
}

static int apply(struct profile_target *target, const struct entry *entry, struct err *err)
{
	const struct profile_key *key = entry->setting->key;
	char origin[256];
	int r;

	profile_origin(entry->profile, entry->setting->line, entry->setting->column, origin,
		       sizeof(origin));
	target->name = entry->profile->name;
	target->origin = origin;
	target->level = entry->level;
	r = key->set(target, key, entry->setting->value, err);
	return r < 0 ? err_prefix(err, "%s: %s=", origin, key->name), r : 0;
}

int profile_chain_apply(const struct profile_chain *chain, uint64_t memory_bytes, struct spec *spec,
			struct err *err)
{
	struct profile_target target = { .spec = spec, .memory_bytes = memory_bytes };
	struct merged m = { 0 };
	int r = 0;

	/* A preset is of the command line, too. */
	if (spec->preset)
		r = limit_apply_preset(spec->limits, spec->preset, err);
	if (!r)
		r = merge_all(&m, chain, err);
	for (size_t i = 0; i < m.count && !r; i++)
		r = apply(&target, &m.entries[i], err);
	free(m.entries);
	spec->drop_privileges = strcmp(chain->profiles[0].name, "none") != 0;
	return r;
}
