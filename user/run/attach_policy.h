/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_policy: the policy of a tree that runs already: hooks alone hold it, since everything else is put on before a
 * command's first instruction. What they cannot hold here is refused by name, or left out by request.
 */
#ifndef RUN_ATTACH_POLICY_H
#define RUN_ATTACH_POLICY_H

#include "run/result.h"

struct run;

/* The rules as the tree's first process sees its files. */
int attach_policy_resolve(struct run *run, struct err *err);
/* Into the sandbox's row, before anybody is in it: whoever is adopted is under the policy from then on. */
int attach_policy_enforce(struct run *run, struct err *err);
void attach_policy_clauses(const struct run *run, struct result *result);

#endif
