/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid: a screen as cells, in memory. Whatever text is put there, cells hold printable characters only:
 * escapes, newlines and invalid bytes are spelled out (sbxctl/print.h), and nothing leaves its place.
 */
#ifndef SBXTOP_GRID_H
#define SBXTOP_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum grid_style {
	GRID_PLAIN,
	GRID_GOOD,
	GRID_BAD,
	GRID_WARN,
	GRID_DIM,
	GRID_BOLD,
	GRID_BAR,    /* heads, titles, the bottom line */
	GRID_CURSOR, /* the selected line */
	GRID__STYLES,
};

struct grid_cell {
	uint32_t code; /* 0: the right half of a wide character */
	enum grid_style style;
};

struct grid {
	int rows, columns;
	struct grid_cell *cells;
	bool failed; /* no room for that size: it is empty */
};

void grid_resize(struct grid *g, int rows, int columns);
void grid_done(struct grid *g);
void grid_clear(struct grid *g);
/* Fills a row from `column` on with spaces of this style. */
void grid_fill(struct grid *g, int row, int column, int width, enum grid_style style);
/* At most `width` columns, cut with an ellipsis; `right` puts it at their right end. */
void grid_text(struct grid *g, int row, int column, int width, enum grid_style style, bool right,
	       const char *text);
/* A row as UTF-8 without spaces at its end, for tests. */
void grid_line(const struct grid *g, int row, char *buf, size_t size);

#endif
