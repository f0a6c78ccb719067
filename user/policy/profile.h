/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile: one profile file as a list of settings. Pure: text in, settings out.
 *
 * INI as in systemd's units: `[Section]`, `Key=value`, whole lines of comment behind # or ;. Lists are
 * words by space, "…" around one with spaces; a key with nothing behind it resets. What a value means is
 * the business of the key table (profile_key.h); here it is only cut into words.
 *
 * Errors carry file, line, column and the nearest known name.
 */
#ifndef POLICY_PROFILE_H
#define POLICY_PROFILE_H

#include <stddef.h>

#include "base/err.h"

#define PROFILE_BYTES_MAX (64 << 10)
#define PROFILE_SETTINGS_MAX 4096
#define PROFILE_NAME_MAX 64

struct profile_key;

struct profile_setting {
	const struct profile_key *key;
	char *value; /* one word of a list, the whole text else; NULL: reset */
	unsigned int line, column;
};

struct profile {
	char *name;
	char *source;  /* path of the file; NULL: compiled in */
	char *extends; /* NULL: starts from nothing */
	unsigned int extends_line;
	struct profile_setting *settings;
	size_t count;
};

/* Failure leaves *out empty. `source` NULL: compiled in. */
int profile_parse(struct profile *out, const char *name, const char *source, const char *text,
		  size_t len, struct err *err);
void profile_done(struct profile *profile);

/* Where a setting stands, for origins and errors: "/etc/sbx/profiles.d/ci:7:3", "profile default, line 12". */
void profile_origin(const struct profile *profile, unsigned int line, unsigned int column,
		    char *buf, size_t size);

#endif
