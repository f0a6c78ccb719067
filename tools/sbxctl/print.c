/* SPDX-License-Identifier: Apache-2.0 */
#include "print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/own.h"
#include "base/text.h"

#define ELLIPSIS "\xe2\x80\xa6"

/* ---- text ---- */

/* Length of the character at `s` (valid UTF-8) and its code point. */
static size_t character(const char *s, uint32_t *code)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t len = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;

	*code = len == 1 ? *p : *p & (0x7fU >> len);
	for (size_t i = 1; i < len; i++)
		*code = *code << 6 | (p[i] & 0x3f);
	return len;
}

/* What a terminal might act on, or what would make a line read otherwise than it is. */
static bool harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 ||
	       (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff ||
	       (c >= 0xe0000 && c <= 0xe007f);
}

static size_t escaped(const char *s, size_t len, uint32_t c, char out[16])
{
	if (!harmful(c)) {
		memcpy(out, s, len);
		return len;
	}
	return (size_t)sprintf(out, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
}

size_t print_escape(const char *text, char *buf, size_t size)
{
	size_t len = strlen(text), used = 0, columns = 0, mark = 0, mark_columns = 0;
	bool lossy;
	own_str utf8 = text_to_utf8(text, len, &len, &lossy);

	for (size_t i = 0; utf8 && i < len;) {
		char out[16];
		uint32_t code;
		size_t in = character(utf8 + i, &code), n = escaped(utf8 + i, in, code, out);

		if (used + n + 1 > size) {
			memcpy(buf + mark, ELLIPSIS, sizeof(ELLIPSIS));
			return mark_columns + 1;
		}
		memcpy(buf + used, out, n);
		i += in;
		used += n;
		columns += n == in ? 1 : n;
		/* The last place where the mark of a cut would still fit. */
		if (used + sizeof(ELLIPSIS) <= size) {
			mark = used;
			mark_columns = columns;
		}
	}
	buf[used] = 0;
	return columns;
}

void print_text(FILE *out, const char *text)
{
	size_t size = 6 * strlen(text) + 8;
	own_str buf = malloc(size);

	if (!buf)
		return;
	print_escape(text, buf, size);
	fputs(buf, out);
}

/* ---- colours ---- */

static const char *const color_codes[] = {
	[PRINT_PLAIN] = "",	   [PRINT_GOOD] = "\033[32m", [PRINT_BAD] = "\033[31m",
	[PRINT_WARN] = "\033[33m", [PRINT_DIM] = "\033[2m",
};

int print_color_when(const char *when, FILE *out, bool *color, struct err *err)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	*color = when && !strcmp(when, "always");
	if (*color || (when && !strcmp(when, "never")))
		return 0;
	if (when && strcmp(when, "auto"))
		return err_say(err, ERR_VALIDATION, -EINVAL,
			       "--color '%.40s' is not auto, always or never", when);
	*color = isatty(fileno(out)) && !(no_color && no_color[0]) && term && strcmp(term, "dumb");
	return 0;
}

void print_colored(FILE *out, enum print_color hue, bool color, const char *text)
{
	fputs(color ? color_codes[hue] : "", out);
	print_text(out, text);
	fputs(color && hue != PRINT_PLAIN ? "\033[0m" : "", out);
}

/* ---- tables ---- */

void table_init(struct table *t, const char *const *heads, size_t columns)
{
	*t = (struct table){ .heads = heads, .columns = columns };
}

void table_done(struct table *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->colors);
	*t = (struct table){ 0 };
}

static int grow(struct table *t)
{
	size_t room = t->count ? 2 * t->count : 64;
	char **cells;
	enum print_color *colors;

	/* A power of two, or empty: full. */
	if (t->count & (t->count - 1) || (t->count && t->count < 64))
		return 0;
	cells = realloc(t->cells, room * sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	t->cells = cells;
	colors = realloc(t->colors, room * sizeof(*colors));
	if (!colors)
		return -ENOMEM;
	t->colors = colors;
	return 0;
}

void table_cell(struct table *t, enum print_color color, const char *fmt, ...)
{
	char raw[4 * TABLE_CELL_MAX], text[TABLE_CELL_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(raw, sizeof(raw), fmt, args);
	va_end(args);
	print_escape(raw[0] ? raw : "-", text, sizeof(text));
	if (grow(t) || !(t->cells[t->count] = strdup(text))) {
		t->failed = true;
		return;
	}
	t->colors[t->count++] = color;
}

static size_t width_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

static void measure(const struct table *t, size_t *widths)
{
	for (size_t c = 0; c < t->columns; c++)
		widths[c] = width_of(t->heads[c]);
	for (size_t i = 0; i < t->count; i++) {
		size_t width = width_of(t->cells[i]), *wide = &widths[i % t->columns];

		*wide = width > *wide ? width : *wide;
	}
}

/* Columns left for the last cell of a line; SIZE_MAX when `out` is no terminal. */
static size_t room_for_last(const struct table *t, const size_t *widths, FILE *out)
{
	size_t used = 0;
	struct winsize size;

	if (ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col)
		return SIZE_MAX;
	for (size_t c = 0; c + 1 < t->columns; c++)
		used += widths[c] + 2;
	return size.ws_col > used + 8 ? size.ws_col - used : 8;
}

/* The first `max` characters. */
static int bytes_of(const char *text, size_t max)
{
	const char *p = text;

	for (; *p; p++)
		if ((*p & 0xc0) != 0x80 && !max--)
			break;
	return (int)(p - text);
}

static void print_cell(FILE *out, const char *text, const char *code, size_t width, bool last,
		       size_t room)
{
	size_t columns = width_of(text);

	fputs(code, out);
	if (last && columns > room)
		fprintf(out, "%.*s" ELLIPSIS, bytes_of(text, room - 1), text);
	else
		fputs(text, out);
	fputs(*code ? "\033[0m" : "", out);
	if (last)
		fputc('\n', out);
	else
		fprintf(out, "%*s", (int)(width - columns) + 2, "");
}

int table_print(const struct table *t, FILE *out, bool color)
{
	size_t widths[TABLE_COLUMNS_MAX], room;

	measure(t, widths);
	room = room_for_last(t, widths, out);
	for (size_t c = 0; c < t->columns; c++)
		print_cell(out, t->heads[c], "", widths[c], c + 1 == t->columns, room);
	for (size_t i = 0; i < t->count; i++) {
		size_t c = i % t->columns;

		print_cell(out, t->cells[i], color ? color_codes[t->colors[i]] : "", widths[c],
			   c + 1 == t->columns, room);
	}
	return t->failed ? -ENOMEM : 0;
}

/* ---- quantities ---- */

void print_duration(uint64_t ns, char *buf, size_t size)
{
	uint64_t ms = ns / 1000000, s = ms / 1000;

	if (ns == UINT64_MAX)
		snprintf(buf, size, "-");
	else if (s < 1)
		snprintf(buf, size, "%llums", (unsigned long long)ms);
	else if (s < 60)
		snprintf(buf, size, "%llu.%llus", (unsigned long long)s,
			 (unsigned long long)(ms % 1000 / 100));
	else if (s < 3600)
		snprintf(buf, size, "%llum%02llus", (unsigned long long)(s / 60),
			 (unsigned long long)(s % 60));
	else if (s < 86400)
		snprintf(buf, size, "%lluh%02llum", (unsigned long long)(s / 3600),
			 (unsigned long long)(s / 60 % 60));
	else
		snprintf(buf, size, "%llud%lluh", (unsigned long long)(s / 86400),
			 (unsigned long long)(s / 3600 % 24));
}

void print_size(uint64_t bytes, char *buf, size_t size)
{
	const char units[] = "BKMGTPE";
	double value = (double)bytes;
	int unit = 0;

	if (bytes == UINT64_MAX) {
		snprintf(buf, size, "-");
		return;
	}
	for (; value >= 1000 && units[unit + 1]; unit++)
		value /= 1024;
	snprintf(buf, size, unit ? "%.1f%c" : "%.0f%c", value, units[unit]);
}

uint64_t print_number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? (uint64_t)json_integer_value(value) : UINT64_MAX;
}

int print_json(FILE *out, const json_t *value, bool pretty)
{
	size_t flags = JSON_ENCODE_ANY | (pretty ? JSON_INDENT(2) : JSON_COMPACT);

	/* What a sandbox wrote is in there; beyond ASCII it could still steer a terminal. */
	if (isatty(fileno(out)))
		flags |= JSON_ENSURE_ASCII;
	if (json_dumpf(value, out, flags))
		return -EIO;
	fputc('\n', out);
	return 0;
}

void print_progress(const char *fmt, ...)
{
	const char *term = getenv("TERM");
	va_list args;

	if (!isatty(STDERR_FILENO) || !term || !strcmp(term, "dumb"))
		return;
	fputs("\r\033[K", stderr);
	if (fmt) {
		va_start(args, fmt);
		vfprintf(stderr, fmt, args);
		va_end(args);
	}
	fflush(stderr);
}

int print_err(const char *command, const struct err *err)
{
	fprintf(stderr, "sbxctl %s: ", command);
	print_text(stderr, err->text);
	fputc('\n', stderr);
	return 1;
}
