/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_load: finds profiles and applies them: /etc/sbx/profiles.d, then the built-in ones, then
 * ~/.config/sbx/profiles of whoever calls (the user behind sudo). That order, since a command that may write
 * to a home must not be able to plant a `default` for the next one.
 */
#ifndef SBXCTL_PROFILE_LOAD_H
#define SBXCTL_PROFILE_LOAD_H

#include <limits.h>

#include "kern/user.h"
#include "policy/profile_chain.h"

/* Applies the profile that spec->profile names: `default` where none is named, and it then says so. After
 * option_parse, before spec_check. */
int profile_load(struct spec *spec, struct err *err);

/* What `name` comes to; a name with '/' is a path. */
int profile_load_chain(struct profile_chain *chain, const char *name, struct err *err);
/* Its text, malloc'd; *source NULL: compiled in. */
int profile_load_text(const char *name, char **text, size_t *len, char **source, struct err *err);

/* The home and the directory that a run with these options would have. Of *user only the home is set where the
 * command runs as the caller. */
int profile_load_context(const struct spec *spec, struct user *user, char directory[PATH_MAX],
			 struct err *err);

/* Memory of this host, what a percentage in a profile is of. */
uint64_t profile_load_memory(void);

/* The directories that are searched, in order; the second is empty when there is no home. */
#define PROFILE_DIRS 2
struct profile_dirs {
	char path[PROFILE_DIRS][320];
};
void profile_load_dirs(struct profile_dirs *dirs);

#endif
