/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print: what people read: tables, colours, quantities, and text that sandboxes chose.
 *
 * Nothing from a sandbox (comm, argv, names, diagnostics) reaches a terminal but through print_text:
 * control characters, escape sequences and bidirectional overrides come out as \xNN or \uNNNN.
 */
#ifndef SBXCTL_PRINT_H
#define SBXCTL_PRINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Escapes into buf (at least 4 bytes); what does not fit ends with "…". Returns the columns used. */
size_t print_escape(const char *text, char *buf, size_t size);
void print_text(FILE *out, const char *text);

enum print_color { PRINT_PLAIN, PRINT_GOOD, PRINT_BAD, PRINT_WARN, PRINT_DIM };
/* --color WHEN (auto, always, never); auto: a terminal, and neither NO_COLOR nor TERM=dumb. NULL is auto. -EINVAL
 * for another word. */
int print_color_when(const char *when, FILE *out, bool *color, struct err *err);
/* print_text in this colour; plain unless `color`. */
void print_colored(FILE *out, enum print_color hue, bool color, const char *text);

#define TABLE_COLUMNS_MAX 24
#define TABLE_CELL_MAX 256
struct table {
	const char *const *heads;
	size_t columns;
	char **cells; /* row by row, escaped; owned */
	enum print_color *colors;
	size_t count;
	bool failed; /* out of memory */
};
void table_init(struct table *t, const char *const *heads, size_t columns);
void table_done(struct table *t);
/* Cells are added in order, row by row; NULL or "" shows as "-". */
void table_cell(struct table *t, enum print_color color, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Columns as wide as their widest cell, two spaces between; the last one is cut at the terminal's width when
 * `out` is one. -ENOMEM when a cell was lost. */
int table_print(const struct table *t, FILE *out, bool color);

/* "350ms", "12.3s", "4m05s", "3h12m", "2d4h"; "-" for UINT64_MAX. */
void print_duration(uint64_t ns, char *buf, size_t size);
/* "912B", "64.0K", "1.5G"; "-" for UINT64_MAX. */
void print_size(uint64_t bytes, char *buf, size_t size);
/* An integer of a JSON object, UINT64_MAX when it is null or absent. */
uint64_t print_number(const json_t *object, const char *key);

/* Writes JSON with a newline, indented when `pretty`. */
int print_json(FILE *out, const json_t *value, bool pretty);

/* What a long command is at, in a line that the next one takes the place of; NULL takes it away. Only where stderr is
 * a terminal. */
void print_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "sbxctl COMMAND: text" on stderr, escaped. Returns 1. */
int print_err(const char *command, const struct err *err);

#endif
