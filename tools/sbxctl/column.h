/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column: what can be shown of a run, by name: one table for `ps`, for sbxtop, and for what is said
 * of them in help and man pages. Fills buffers; prints nothing.
 */
#ifndef SBXCTL_COLUMN_H
#define SBXCTL_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/view.h"
#include "run/glance.h"
#include "print.h"

#define COLUMN_TEXT 512 /* bytes of a cell, at most */

/* A run and, where two looks have been taken, what it did between them a second; GLANCE_UNKNOWN else. */
struct column_row {
	const struct glance *run;
	uint64_t cpu_permille, output_rate, io_rate;
};

struct column {
	const char *name, *head, *help;
	int width;  /* columns on a screen; 0: what is left */
	bool right; /* numbers */
	/* Raw text: escaping is for who prints. "" is nothing. */
	void (*text)(const struct column_row *row, char *buf, size_t size);
	/* What it is sorted by, largest first, GLANCE_UNKNOWN last; NULL: by its text. */
	uint64_t (*key)(const struct column_row *row);
};
extern const struct column columns[];
extern const size_t column_count;

const struct column *column_find(const char *name);
/* "id,name,age" into `out`: their number, or a negative errno and which is unknown. */
int column_list(const char *text, const struct column **out, size_t most, struct err *err);

/* "?" what nobody told, "-" what there is none of. */
void column_number(uint64_t n, char *buf, size_t size);
void column_size(uint64_t bytes, char *buf, size_t size);
void column_duration(uint64_t ns, char *buf, size_t size);

/* A process in the same columns: its number for the id, its name below its parent's. */
struct column_process {
	const struct view_process *process;
	uint64_t now_ns; /* CLOCK_BOOTTIME */
	uint64_t cpu_permille;
	unsigned int depth;
};
void column_process(const struct column *column, const struct column_process *p, char *buf,
		    size_t size);

enum print_color column_color(const struct column *column, const struct column_row *row);

#endif
