/* SPDX-License-Identifier: Apache-2.0 */
/* report: what `run` tells the person or program that called it. */
#ifndef SBXCTL_REPORT_H
#define SBXCTL_REPORT_H

#include "run/result.h"

/* Refuses a --result that could not be written. Before anything is opened: fd:N may be no descriptor of the caller's. */
int report_check(const struct spec *spec, struct err *err);
/* -v: what is in force, before the command runs. */
void report_started(const struct spec *spec, const struct result *result);
/* --json, --result, --tree, one stderr line for a forced end, and with -v one for every end. Negative when a record that
 * was asked for is lost. */
int report_result(const struct spec *spec, const struct result *result);
/* One stderr line; --json and --result get a could_not_run record. `result` may be NULL. */
void report_failure(const struct spec *spec, const struct result *result, const struct err *err);

#endif
