/* SPDX-License-Identifier: Apache-2.0 */
/* session: sbxtop on a screen, from the first key to the last. */
#ifndef SBXTOP_SESSION_H
#define SBXTOP_SESSION_H

#include "options.h"
#include "watch.h"

int session_run(struct watch *w, const struct options *o, struct err *err);

#endif
