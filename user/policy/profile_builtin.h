/* SPDX-License-Identifier: Apache-2.0 */
/* profile_builtin: the profiles that are compiled in, as the INI text that a file would have. Pure. */
#ifndef POLICY_PROFILE_BUILTIN_H
#define POLICY_PROFILE_BUILTIN_H

#include <stddef.h>

struct profile_builtin {
	const char *name, *help, *text;
};
extern const struct profile_builtin profile_builtins[];
extern const size_t profile_builtin_count;

/* NULL when there is none of that name. */
const struct profile_builtin *profile_builtin_find(const char *name);

#endif
