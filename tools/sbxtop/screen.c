/* SPDX-License-Identifier: Apache-2.0 */
#include "screen.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "keys.h"

#define ESCAPE_DELAY_MS 25
#define COPY_MAX 4096

static bool utf8; /* what the terminal's user has set; else the rest of the characters is '?' */
static attr_t styles[GRID__STYLES];

/* Without colours the same things differ by weight and inversion. */
static void choose_styles(bool monochrome)
{
	static const attr_t plain[GRID__STYLES] = {
		[GRID_BAD] = A_BOLD,  [GRID_WARN] = A_BOLD,   [GRID_DIM] = A_DIM,
		[GRID_BOLD] = A_BOLD, [GRID_BAR] = A_REVERSE, [GRID_CURSOR] = A_REVERSE | A_BOLD,
	};
	static const struct {
		enum grid_style style;
		short color;
	} colored[] = { { GRID_GOOD, COLOR_GREEN },
			{ GRID_BAD, COLOR_RED },
			{ GRID_WARN, COLOR_YELLOW } };

	memcpy(styles, plain, sizeof(styles));
	if (monochrome || !has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	for (size_t i = 0; i < sizeof(colored) / sizeof(*colored); i++) {
		init_pair((short)(i + 1), colored[i].color, -1);
		styles[colored[i].style] = COLOR_PAIR(i + 1);
	}
	init_pair(4, COLOR_BLACK, COLOR_CYAN);
	styles[GRID_CURSOR] = COLOR_PAIR(4);
}

int screen_open(bool monochrome, struct err *err)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_say(err, ERR_VALIDATION, -ENOTTY,
			       "stdin and stdout are no terminal: --once and --batch do without");
	if (!newterm(NULL, stdout, stdin))
		return err_say(err, ERR_VALIDATION, -ENOTTY,
			       "the terminal type '%.40s' is not known: set TERM, or use --batch",
			       term ? term : "");
	utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	set_escdelay(ESCAPE_DELAY_MS);
	curs_set(0);
	choose_styles(monochrome || (no_color && *no_color));
	return 0;
}

void screen_close(void)
{
	endwin();
}

void screen_size(int *rows, int *columns)
{
	getmaxyx(stdscr, *rows, *columns);
}

static void show_cell(const struct grid_cell *c, int row, int column)
{
	wchar_t text[2] = { (wchar_t)c->code, 0 };
	cchar_t cell;

	if (!c->code)
		return;
	if (!utf8 && c->code >= 0x80)
		text[0] = c->code == 0x2514 ? L'`' : L'?';
	if (setcchar(&cell, text, styles[c->style] & ~(attr_t)A_COLOR,
		     (short)PAIR_NUMBER(styles[c->style]), NULL) == OK)
		mvadd_wch(row, column, &cell);
}

void screen_show(const struct grid *g)
{
	erase();
	for (int row = 0; row < g->rows; row++)
		for (int column = 0; column < g->columns; column++)
			show_cell(&g->cells[(size_t)row * (size_t)g->columns + (size_t)column], row,
				  column);
	refresh();
}

static int special(int key)
{
	static const struct {
		int curses, ours;
	} keys[] = {
		{ KEY_UP, KEYS_UP },
		{ KEY_DOWN, KEYS_DOWN },
		{ KEY_LEFT, KEYS_LEFT },
		{ KEY_RIGHT, KEYS_RIGHT },
		{ KEY_PPAGE, KEYS_PAGE_UP },
		{ KEY_NPAGE, KEYS_PAGE_DOWN },
		{ KEY_HOME, KEYS_HOME },
		{ KEY_END, KEYS_END },
		{ KEY_RESIZE, KEYS_RESIZE },
		{ KEY_ENTER, KEYS_ENTER },
		{ KEY_BACKSPACE, KEYS_BACKSPACE },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].curses == key)
			return keys[i].ours;
	return 0;
}

int screen_key(int timeout_ms)
{
	wint_t key;
	int kind;

	timeout(timeout_ms);
	kind = get_wch(&key);
	if (kind == ERR)
		return 0;
	if (kind == KEY_CODE_YES)
		return special((int)key);
	if (key == '\r')
		return KEYS_ENTER;
	return key == '\b' ? KEYS_BACKSPACE : (int)key;
}

/* ---- the clipboard ---- */

static size_t base64(const char *text, size_t len, char *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = (const unsigned char *)text;
	size_t n = 0;

	for (size_t i = 0; i < len; i += 3) {
		uint32_t bits = (uint32_t)p[i] << 16 | (uint32_t)(i + 1 < len ? p[i + 1] : 0) << 8 |
				(i + 2 < len ? p[i + 2] : 0);

		out[n++] = digits[bits >> 18 & 63];
		out[n++] = digits[bits >> 12 & 63];
		out[n++] = i + 1 < len ? digits[bits >> 6 & 63] : '=';
		out[n++] = i + 2 < len ? digits[bits & 63] : '=';
	}
	return n;
}

void screen_copy(const char *text)
{
	char out[2 * COPY_MAX] = "\033]52;c;";
	size_t used = strlen(out), len = strnlen(text, COPY_MAX);

	used += base64(text, len, out + used);
	out[used++] = '\a';
	io_write_all(STDOUT_FILENO, out, used);
}
