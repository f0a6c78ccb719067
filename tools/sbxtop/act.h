/* SPDX-License-Identifier: Apache-2.0 */
/* act: what sbxtop does to the selected run: it asks the keeper, as sbxctl does, and does not wait for the end. */
#ifndef SBXTOP_ACT_H
#define SBXTOP_ACT_H

#include <stdint.h>

#include "base/err.h"
#include "serve/protocol.h"

/* STOP, TERMINATE, FREEZE, THAW; UPDATE sets the wall clock limit to wall_ns. A stopped keeper is given a
 * second; then root's kill goes over its head. */
int act_on(const char *id, enum request_op op, uint64_t wall_ns, struct err *err);

#endif
