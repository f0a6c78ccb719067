/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pane: the lower part of the screen as lines of text: what policy refused, what happened, one process, limits
 * and clauses. Made from what others have read; pure. Text may be any bytes: the grid spells it out.
 */
#ifndef SBXTOP_PANE_H
#define SBXTOP_PANE_H

#include <jansson.h>

#include "kern/view.h"
#include "run/glance.h"
#include "sbxctl/print.h"

enum pane_kind { PANE_NONE, PANE_DENIALS, PANE_EVENTS, PANE_PROCESS, PANE_LIMITS };

struct pane_line {
	char *text; /* owned */
	enum print_color color;
};

struct pane {
	enum pane_kind kind;
	char title[160];
	struct pane_line *lines; /* owned */
	size_t count, room;
	size_t top;			  /* first line that is shown */
	size_t chosen;			  /* of the denials */
	size_t chosen_line, chosen_lines; /* where it is */
	char *hint;			  /* owned: of the chosen denial; NULL: none */
};

void pane_done(struct pane *p);
/* Empties it, keeps kind and place. */
void pane_clear(struct pane *p);
void pane_add(struct pane *p, enum print_color color, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* NULL: the keeper has not told. */
void pane_denials(struct pane *p, const struct glance *g, const json_t *denials);
void pane_limits(struct pane *p, const struct glance *g);

/* What /proc says of one process; NULL: may not be read, or it is gone. */
struct pane_process {
	const struct view_process *process;
	uint64_t now_ns, cpu_permille;
	const char *arguments, *directory, *executable, *user;
};
void pane_process(struct pane *p, const struct glance *g, const struct pane_process *facts);

#endif
