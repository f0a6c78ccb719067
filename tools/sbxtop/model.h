/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model: what sbxtop shows, apart from how: runs and their processes in order, rates between two looks,
 * what is folded, filtered, selected. Knows no terminal, asks no clock: a look brings its time along.
 */
#ifndef SBXTOP_MODEL_H
#define SBXTOP_MODEL_H

#include "base/err.h"
#include "kern/view.h"
#include "run/glance.h"
#include "sbxctl/column.h"

#define MODEL_FILTER_MAX 64
#define MODEL_FOLDED_MAX 4096 /* runs that are remembered as folded or unfolded */
#define MODEL_NO_PROCESS UINT32_MAX

/* One look. Borrowed until the next. */
struct model_look {
	uint64_t now_ns; /* CLOCK_BOOTTIME */
	const struct glance *const *runs;
	size_t run_count;
	const struct view_process *processes; /* by sandbox, then by start */
	size_t process_count;
	uint64_t processes_dropped; /* that nobody had room to tell */
};

struct model_run {
	struct column_row row; /* row.run is borrowed from the look */
	size_t first, count;   /* its own processes in the look */
	uint32_t
		parent; /* index of the run it is inside of, MODEL_NO_PROCESS: none that is shown */
	bool shown, folded;
};

struct model_line {
	uint32_t run;	  /* index in runs */
	uint32_t process; /* index in the look's processes; MODEL_NO_PROCESS: the run itself */
	uint32_t depth;
};

struct model_past;

struct model {
	struct model_look look;
	struct model_run *runs;
	size_t run_count;
	uint64_t *process_cpu; /* permille, by index in the look */
	struct model_line *lines;
	size_t line_count;

	const struct column *sort;
	bool reverse, follow, fold_all;
	char filter[MODEL_FILTER_MAX];
	const char *only_id, *only_scope; /* NULL: all; borrowed */

	size_t cursor, top; /* index in lines: what is selected, what is shown first */
	uint64_t selected_run;
	uint32_t selected_pid;		   /* 0: the run itself */
	uint64_t folded[MODEL_FOLDED_MAX]; /* runs that are otherwise than fold_all says */
	size_t folded_count;
	struct model_past *past;
};

int model_new(struct model **out, struct err *err);
void model_free(struct model *m);

/* -ENOMEM: the old look stays, without its rows. */
int model_take(struct model *m, const struct model_look *look);
/* After a change of sort, filter or folding. */
int model_order(struct model *m);

/* The line under the cursor; NULL when there is none. */
const struct model_line *model_selected(const struct model *m);
const struct model_run *model_selected_run(const struct model *m);
void model_move(struct model *m, long by);
/* So that the cursor is among `rows` lines from top on. */
void model_scroll(struct model *m, size_t rows);
void model_fold(struct model *m, bool folded); /* of the selected run */
void model_fold_all(struct model *m, bool folded);
/* The next column (by: 1) or the one before (-1) among those of the table. */
void model_sort_next(struct model *m, int by);

/* Processes, threads and denials of all shown runs; a nested run counts in the one around it. */
struct model_sums {
	size_t runs;
	uint64_t processes, threads, denials, lost;
	unsigned int reduced; /* runs with reduced clauses */
};
struct model_sums model_sums(const struct model *m);

#endif
