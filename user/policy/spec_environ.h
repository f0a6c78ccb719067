/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec_environ: the environment of the command (DESIGN 8, contracts 41 and 42). Pure.
 *
 * Three sources, later ones win: what the caller has and the built-in list or --pass-env names,
 * unless name or value look like a secret; the facts of the run user; what -e says, which is the
 * grant for anything.
 */
#ifndef POLICY_SPEC_ENVIRON_H
#define POLICY_SPEC_ENVIRON_H

#include "policy/spec.h"

/* Names and patterns that are passed without being asked for. */
extern const char *const spec_environ_passed[];
extern const size_t spec_environ_passed_count;

/* The variables that lead tools to their cache, each to a directory of its own below user->cache. */
struct spec_environ_cache {
	const char *name, *directory; /* "": the cache itself */
};
extern const struct spec_environ_cache spec_environ_caches[];
extern const size_t spec_environ_cache_count;

/* passwd facts of the run user; NULL members keep what the caller has. */
struct spec_user {
	const char *name, *home, *shell;
	const char *path;  /* with --pass-path: the PATH before sudo replaced it */
	const char *cache; /* directory of the tools' caches; NULL: wherever they would be */
};

/* NULL-terminated "NAME=VALUE" vector; the caller frees it with spec_environ_free. `id` becomes
 * SBX_ID. A `-e NAME` that the caller does not have is an error. */
int spec_environ(const struct spec *spec, char *const *caller, const struct spec_user *user,
		 const char *id, char ***out, struct err *err);
void spec_environ_free(char **environ_vector);

/* Value of `name` in a vector, NULL when absent. */
const char *spec_environ_get(char *const *environ_vector, const char *name);

#endif
