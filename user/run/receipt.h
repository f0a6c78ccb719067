/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receipt: what is known about the end of a run whose keeper died: the kernel half's row.
 *
 * No evidence is `unknown`, never a guess: a root that ended before anybody killed anything has its exit
 * status, one that was killed with its keeper says so, and what only the keeper knew (output, usage)
 * is null.
 */
#ifndef RUN_RECEIPT_H
#define RUN_RECEIPT_H

#include <jansson.h>
#include <stdbool.h>

#include "run/rundir.h"
#include "sbx/kern.h"

struct receipt {
	bool has_row;
	struct sbx_sandbox row;
	bool this_boot; /* the record is of this boot */
	bool attached;	/* it ran before its keeper did */
	bool let_go;	/* … and goes on after it */
};

/* Turns the result at launch into the final one, in place. -ENOMEM. */
int receipt_apply(const struct receipt *receipt, json_t *result, const struct rundir *d);

/* With max_execs crossed: programs that were started, with the one that the kernel half may have refused. */
uint64_t receipt_execs(const struct sbx_sandbox *row);

#endif
