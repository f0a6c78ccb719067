/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view: model and pane drawn into a grid. Pure: the same input is the same grid, on any terminal.
 */
#ifndef SBXTOP_VIEW_H
#define SBXTOP_VIEW_H

#include "grid.h"
#include "model.h"
#include "pane.h"

#define VIEW_COLUMNS_MIN 80
#define VIEW_ROWS_MIN 24

struct view {
	struct model *model; /* its scrolling follows the room there is */
	struct pane *pane;   /* kind PANE_NONE: closed; its scrolling as well */
	bool help;
	int help_top;
	const char *prompt; /* "filter: ", NULL: none */
	const char *input;  /* what has been typed behind it */
	const char *notice; /* what came of the last action, NULL */
	const char *error;  /* what could not be read, NULL */
};

void view_draw(const struct view *v, struct grid *g);
/* Lines of the list on a screen of so many rows. */
int view_list_rows(const struct view *v, int rows);

#endif
