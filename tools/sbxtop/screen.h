/* SPDX-License-Identifier: Apache-2.0 */
/* screen: the terminal: shows a grid, reads keys. The only file that knows curses. One at a time. */
#ifndef SBXTOP_SCREEN_H
#define SBXTOP_SCREEN_H

#include <stdbool.h>

#include "base/err.h"
#include "grid.h"

/* Refuses what is no terminal, or one that curses does not know. */
int screen_open(bool monochrome, struct err *err);
void screen_close(void);
/* As large as the terminal is now. */
void screen_size(int *rows, int *columns);
void screen_show(const struct grid *g);
/* A character or KEYS_…; 0 when none came in so many ms. */
int screen_key(int timeout_ms);
/* To the clipboard of the terminal (OSC 52); whether it takes it is not told. */
void screen_copy(const char *text);

#endif
