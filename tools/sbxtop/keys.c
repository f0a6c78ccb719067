/* SPDX-License-Identifier: Apache-2.0 */
#include "keys.h"

/* clang-format off */
const struct keys_row keys_rows[] = {
	{ KEYS_MOVE_UP, { KEYS_UP, 'k' }, "Up k", "select the line above", NULL },
	{ KEYS_MOVE_DOWN, { KEYS_DOWN, 'j' }, "Down j", "select the line below", NULL },
	{ KEYS_MOVE_PAGE_UP, { KEYS_PAGE_UP }, "PgUp", "a page up", NULL },
	{ KEYS_MOVE_PAGE_DOWN, { KEYS_PAGE_DOWN }, "PgDn", "a page down", NULL },
	{ KEYS_MOVE_FIRST, { KEYS_HOME, 'g' }, "Home g", "the first line", NULL },
	{ KEYS_MOVE_LAST, { KEYS_END, 'G' }, "End G", "the last line", NULL },
	{ KEYS_FOLD, { KEYS_LEFT, '-' }, "Left -", "fold the run: its processes are hidden", NULL },
	{ KEYS_UNFOLD, { KEYS_RIGHT, '+' }, "Right +", "unfold the run", NULL },
	{ KEYS_FOLD_ALL, { '*' }, "*", "fold, or unfold, all runs", "fold" },
	{ KEYS_SORT_NEXT, { '>', '.' }, "> .", "sort by the next column", "sort" },
	{ KEYS_SORT_BACK, { '<', ',' }, "< ,", "sort by the column before", NULL },
	{ KEYS_REVERSE, { 'r' }, "r", "turn the order round", NULL },
	{ KEYS_FILTER, { '/' }, "/", "show only runs with a text; an empty one shows all", "filter" },
	{ KEYS_FOLLOW, { 'F' }, "F", "whether the selection follows what is selected, or stays on its line", NULL },
	{ KEYS_PANE_DENIALS, { 'd' }, "d", "what policy refused to the run: object, rule, and what would allow it", "denials" },
	{ KEYS_PANE_EVENTS, { 'e' }, "e", "what happens in the run", "events" },
	{ KEYS_PANE_PROCESS, { 'p', KEYS_ENTER }, "p Enter", "the selected process; arguments only for its user and root", "process" },
	{ KEYS_PANE_LIMITS, { 'l' }, "l", "limits of the run, and what enforces each clause of its tier", "limits" },
	{ KEYS_PANE_CLOSE, { KEYS_ESCAPE, 'x' }, "Esc x", "close the pane", NULL },
	{ KEYS_PANE_UP, { '[' }, "[", "scroll the pane up", NULL },
	{ KEYS_PANE_DOWN, { ']' }, "]", "scroll the pane down; in the denials, the next one", NULL },
	{ KEYS_STOP, { 't' }, "t", "stop the run: SIGTERM, its grace, SIGKILL; asks first", "stop" },
	{ KEYS_KILL, { 'K' }, "K", "kill the run at once; asks first", "kill" },
	{ KEYS_FREEZE, { 'z' }, "z", "freeze every process of the run", "freeze" },
	{ KEYS_THAW, { 'Z' }, "Z", "thaw it", NULL },
	{ KEYS_DEADLINE, { 'u' }, "u", "change its deadline, counted from its start", "deadline" },
	{ KEYS_COPY, { 'y' }, "y", "copy the option that would allow the denial to the terminal's clipboard (OSC 52)", NULL },
	{ KEYS_LOOK, { ' ' }, "Space", "look now", NULL },
	{ KEYS_HELP, { '?', 'h' }, "? h", "this page", "help" },
	{ KEYS_QUIT, { 'q' }, "q", "end sbxtop; nothing else ends with it", "quit" },
};
/* clang-format on */
const size_t keys_count = sizeof(keys_rows) / sizeof(*keys_rows);

enum keys_action keys_find(int key)
{
	for (size_t i = 0; key && i < keys_count; i++)
		for (int k = 0; k < KEYS_PER_ACTION; k++)
			if (keys_rows[i].keys[k] == key)
				return keys_rows[i].action;
	return KEYS_NONE;
}

void keys_table(FILE *out)
{
	for (size_t i = 0; i < keys_count; i++)
		fprintf(out, "key\t%s\t%s\n", keys_rows[i].shown, keys_rows[i].help);
}
