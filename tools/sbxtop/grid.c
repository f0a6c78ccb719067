/* SPDX-License-Identifier: Apache-2.0 */
#include "grid.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "sbxctl/print.h"

#define TEXT_MAX 2048
#define ELLIPSIS 0x2026

void grid_resize(struct grid *g, int rows, int columns)
{
	free(g->cells);
	g->cells = calloc((size_t)rows * (size_t)columns + 1, sizeof(*g->cells));
	g->failed = !g->cells;
	g->rows = g->failed ? 0 : rows;
	g->columns = g->failed ? 0 : columns;
	grid_clear(g);
}

void grid_done(struct grid *g)
{
	free(g->cells);
	*g = (struct grid){ 0 };
}

void grid_clear(struct grid *g)
{
	for (int row = 0; row < g->rows; row++)
		grid_fill(g, row, 0, g->columns, GRID_PLAIN);
}

static struct grid_cell *cell(struct grid *g, int row, int column)
{
	return &g->cells[(size_t)row * (size_t)g->columns + (size_t)column];
}

void grid_fill(struct grid *g, int row, int column, int width, enum grid_style style)
{
	for (int i = column;
	     row >= 0 && row < g->rows && i >= 0 && i < g->columns && i < column + width; i++)
		*cell(g, row, i) = (struct grid_cell){ ' ', style };
}

/* Columns of a character; what has none (it would join the one before) is left out. */
static int width_of(uint32_t code)
{
	int width = code < 0x80 ? 1 : wcwidth((wchar_t)code);

	return width < 0 ? 1 : width;
}

/* Valid UTF-8 as print_escape makes it. */
static size_t decode(const char *text, uint32_t *codes, size_t most)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n = 0;

	while (*p && n < most) {
		int more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
		uint32_t code = more ? *p & (0x3fU >> more) : *p;

		for (p++; more && *p; more--)
			code = code << 6 | (*p++ & 0x3f);
		codes[n++] = code;
	}
	return n;
}

static void put(struct grid *g, int row, int *column, uint32_t code, enum grid_style style)
{
	int width = width_of(code);

	if (width > 0)
		*cell(g, row, (*column)++) = (struct grid_cell){ code, style };
	if (width == 2)
		*cell(g, row, (*column)++) = (struct grid_cell){ 0, style };
}

void grid_text(struct grid *g, int row, int column, int width, enum grid_style style, bool right,
	       const char *text)
{
	uint32_t codes[TEXT_MAX];
	char shown[TEXT_MAX];
	int total = 0, end;
	size_t count;

	if (row < 0 || row >= g->rows || column < 0 || column >= g->columns || width <= 0)
		return;
	width = column + width > g->columns ? g->columns - column : width;
	print_escape(text, shown, sizeof(shown));
	count = decode(shown, codes, TEXT_MAX);
	for (size_t i = 0; i < count; i++)
		total += width_of(codes[i]);
	if (right && total < width) {
		column += width - total;
		width = total;
	}
	end = column + width - (total > width);
	for (size_t i = 0; i < count && column + width_of(codes[i]) <= end; i++)
		put(g, row, &column, codes[i], style);
	if (total > width)
		*cell(g, row, column) = (struct grid_cell){ ELLIPSIS, style };
}

static size_t encode(uint32_t code, char out[4])
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

void grid_line(const struct grid *g, int row, char *buf, size_t size)
{
	size_t used = 0, end = 0;

	for (int i = 0; i < g->columns && used + 5 < size; i++) {
		uint32_t code = g->cells[(size_t)row * (size_t)g->columns + (size_t)i].code;

		if (code)
			used += encode(code, buf + used);
		if (code != ' ')
			end = used;
	}
	buf[end] = 0;
}
