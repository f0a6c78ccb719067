/* SPDX-License-Identifier: Apache-2.0 */
/* explain: why a path has the rights it has, in words. Pure. */
#ifndef POLICY_EXPLAIN_H
#define POLICY_EXPLAIN_H

#include "policy/files.h"

#define EXPLAIN_TEXT 9216

struct explanation {
	const struct file_rule *rule;
	char said
		[EXPLAIN_TEXT]; /* "deny ~/.ssh, which is /data/ssh"; "nothing: no rule names it" */
	char from[512]; /* "profile default, line 22", with what it is beside a literal path */
	const char *tier_a, *tier_b; /* what holds it there, or why nothing does */
};

/* Of a compiled policy, for a canonical path. */
void explain_path(const struct file_policy *policy, const char *path, struct explanation *out);

#endif
