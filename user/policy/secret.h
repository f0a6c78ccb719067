/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret: what looks like a credential, by name or by value. Pure.
 *
 * A guess in favour of not passing: a variable taken for a secret is one `-e NAME` away.
 */
#ifndef POLICY_SECRET_H
#define POLICY_SECRET_H

#include <stdbool.h>

bool secret_name(const char *name);
bool secret_value(const char *value);

#endif
