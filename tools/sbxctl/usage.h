/* SPDX-License-Identifier: Apache-2.0 */
/* usage: what sbxctl says about itself, all of it from the tables. */
#ifndef SBXCTL_USAGE_H
#define SBXCTL_USAGE_H

#include <stdio.h>

#include "base/err.h"
#include "commands.h"

#define SBXCTL_VERSION "0.1.0"
#define SBXCTL_EXIT_MISUSE 2
#define SBXCTL_EXIT_COULD_NOT_RUN 125

void usage_all(FILE *out);
void usage_command(FILE *out, const struct command *command);
/* The tables as tab-separated rows, the kind of row first: man/generate reads them. */
void usage_table(FILE *out);

/* One line on stderr, "sbxctl COMMAND: …" or, for NULL, "sbxctl: …", and the command's exit
 * status for misuse. */
int usage_refuse(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int usage_refuse_err(const char *command, const struct err *err);

#endif
