/* SPDX-License-Identifier: Apache-2.0 */
/* keys: what each key does, one table: the program, the `?` page and the man page read it. Pure. */
#ifndef SBXTOP_KEYS_H
#define SBXTOP_KEYS_H

#include <stddef.h>
#include <stdio.h>

/* Keys that are no character; above Unicode. */
enum {
	KEYS_UP = 0x110000,
	KEYS_DOWN,
	KEYS_LEFT,
	KEYS_RIGHT,
	KEYS_PAGE_UP,
	KEYS_PAGE_DOWN,
	KEYS_HOME,
	KEYS_END,
	KEYS_RESIZE,
	KEYS_ENTER = '\n',
	KEYS_ESCAPE = 0x1b,
	KEYS_BACKSPACE = 0x7f,
};

enum keys_action {
	KEYS_NONE,
	KEYS_MOVE_UP,
	KEYS_MOVE_DOWN,
	KEYS_MOVE_PAGE_UP,
	KEYS_MOVE_PAGE_DOWN,
	KEYS_MOVE_FIRST,
	KEYS_MOVE_LAST,
	KEYS_FOLD,
	KEYS_UNFOLD,
	KEYS_FOLD_ALL,
	KEYS_SORT_NEXT,
	KEYS_SORT_BACK,
	KEYS_REVERSE,
	KEYS_FILTER,
	KEYS_FOLLOW,
	KEYS_PANE_DENIALS,
	KEYS_PANE_EVENTS,
	KEYS_PANE_PROCESS,
	KEYS_PANE_LIMITS,
	KEYS_PANE_CLOSE,
	KEYS_PANE_UP,
	KEYS_PANE_DOWN,
	KEYS_STOP,
	KEYS_KILL,
	KEYS_FREEZE,
	KEYS_THAW,
	KEYS_DEADLINE,
	KEYS_COPY,
	KEYS_LOOK,
	KEYS_HELP,
	KEYS_QUIT,
	KEYS__ACTIONS,
};

#define KEYS_PER_ACTION 3
struct keys_row {
	enum keys_action action;
	int keys[KEYS_PER_ACTION]; /* 0: none */
	const char *shown;	   /* "↑ k" */
	const char *help;
	const char *brief; /* for the bottom line, NULL: not there */
};
extern const struct keys_row keys_rows[];
extern const size_t keys_count;

enum keys_action keys_find(int key);
/* Rows for man/generate. */
void keys_table(FILE *out);

#endif
