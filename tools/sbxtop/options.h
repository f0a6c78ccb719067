/* SPDX-License-Identifier: Apache-2.0 */
/* options: the command line of sbxtop, one row an option; usage, man page and completions derive from the table. */
#ifndef SBXTOP_OPTIONS_H
#define SBXTOP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "sbxctl/column.h"

#define OPTIONS_EXIT_MISUSE 2

struct options {
	uint64_t delay_ns;
	unsigned long frames; /* 0: until it is ended */
	bool batch, json, monochrome, help, version, table;
	const char *id, *scope, *filter;
	const struct column *sort; /* NULL: as the model does */
};

/* -EINVAL with one line in *err. */
int options_parse(struct options *o, int argc, char **argv, struct err *err);
void options_usage(FILE *out);
/* Tab-separated rows, the kind of row first: man/generate reads them. */
void options_table(FILE *out);

#endif
