/* SPDX-License-Identifier: Apache-2.0 */
/* spec_attach: what of a spec holds for a tree that runs already. Pure. */
#ifndef POLICY_SPEC_ATTACH_H
#define POLICY_SPEC_ATTACH_H

#include "policy/spec.h"

/* After spec_check. Refuses by name what was asked for and cannot be applied to a running process any more; what only a
 * profile asks for is waived. The owner defaults to the attached root. */
int spec_check_attach(struct spec *spec, struct err *err);

#endif
