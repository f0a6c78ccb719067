/* SPDX-License-Identifier: Apache-2.0 */
/* batch: frames as text or JSON, for scripts, tests and terminals that cannot do more. */
#ifndef SBXTOP_BATCH_H
#define SBXTOP_BATCH_H

#include "options.h"
#include "watch.h"

/* Prints frames until options say that it is enough, or stdout is gone. Exit status. */
int batch_run(struct watch *w, const struct options *o);

#endif
