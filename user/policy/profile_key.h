/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_key: the table of what a profile file may say, from which parsing, application and the man page
 * derive. Pure.
 */
#ifndef POLICY_PROFILE_KEY_H
#define POLICY_PROFILE_KEY_H

#include "policy/spec.h"

/* What a setting is applied to, and on whose behalf. */
struct profile_target {
	struct spec *spec;
	uint64_t memory_bytes; /* of this host, what a percentage is of */
	const char *name;      /* of the profile that says it */
	const char *origin;    /* where, for records and errors */
	unsigned int level;    /* enum file_level, one more for each profile that extends */
	/* Who last said Mode=, and Allow=, Bind= or Unix=; 0: nobody. */
	unsigned int mode_level, allow_level;
};

struct profile_key {
	const char *section, *name;
	const char *arg;     /* "DUR", as in the option table */
	bool list;	     /* words, repeatable */
	const char *refused; /* not in this build: why; NULL otherwise */
	/* Applies one value unless the command line has spoken. Its error text begins with the value. */
	int (*set)(struct profile_target *target, const struct profile_key *key, const char *value,
		   struct err *err);
	int aux; /* limit id, verb */
	const char *help;
};
extern const struct profile_key profile_keys[];
extern const size_t profile_key_count;

#endif
