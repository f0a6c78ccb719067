/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_chain: a profile with all that it extends, and what they come to on a spec. Pure: whoever calls
 * hands the texts in.
 *
 * Precedence: command line, then the named profile, then each that is extended. Inside one profile a
 * contradiction is an error that names both places; an empty key drops what was said before it.
 */
#ifndef POLICY_PROFILE_CHAIN_H
#define POLICY_PROFILE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/profile.h"
#include "policy/spec.h"

#define PROFILE_CHAIN_MAX 8

struct profile_chain {
	struct profile profiles
		[PROFILE_CHAIN_MAX]; /* the named one; each next is extended by the one before */
	size_t count;
};

/* A profile's text by its name: *text is malloc'd, *source too (NULL: compiled in). 0, -ENOENT without an
 * error text, or another negative errno with one. */
typedef int profile_find_fn(void *arg, const char *name, char **text, size_t *len, char **source,
			    struct err *err);

/* Failure leaves *chain empty. profile_chain_read looks `name` up, profile_chain_read_text has the named one's
 * text at hand. */
int profile_chain_read(struct profile_chain *chain, const char *name, profile_find_fn *find,
		       void *arg, struct err *err);
int profile_chain_read_text(struct profile_chain *chain, const char *name, const char *source,
			    const char *text, size_t len, profile_find_fn *find, void *arg,
			    struct err *err);
void profile_chain_done(struct profile_chain *chain);

/* After the command line's options, before spec_check. `memory_bytes`: what percentages are of. */
int profile_chain_apply(const struct profile_chain *chain, uint64_t memory_bytes, struct spec *spec,
			struct err *err);

/* What may stand behind -p and Extends=: up to PROFILE_NAME_MAX letters, digits, '-', '_', '.', the first a
 * letter or digit. */
bool profile_chain_name_valid(const char *name);

#endif
