/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum step { STEP_CHAR, STEP_BAD, STEP_SHORT };

/* Continuation bytes after a lead byte and the range of the first one (Unicode 15, table 3-7);
 * every later one is 80..BF. */
static const struct lead {
	unsigned char from, to, more, low, high;
} leads[] = {
	{ 0x00, 0x7f, 0, 0, 0 },       { 0xc2, 0xdf, 1, 0x80, 0xbf }, { 0xe0, 0xe0, 2, 0xa0, 0xbf },
	{ 0xe1, 0xec, 2, 0x80, 0xbf }, { 0xed, 0xed, 2, 0x80, 0x9f }, { 0xee, 0xef, 2, 0x80, 0xbf },
	{ 0xf0, 0xf0, 3, 0x90, 0xbf }, { 0xf1, 0xf3, 3, 0x80, 0xbf }, { 0xf4, 0xf4, 3, 0x80, 0x8f },
};

/* Looks at what starts at p: a character, an ill-formed sequence, or one that the end cuts
 * short. *used is its length, an ill-formed one counted as its maximal subpart, as the Unicode
 * standard recommends for replacement. */
static enum step look(const unsigned char *p, size_t len, size_t *used)
{
	const struct lead *lead = NULL;

	*used = 1;
	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]) && !lead; i++)
		if (p[0] >= leads[i].from && p[0] <= leads[i].to)
			lead = &leads[i];
	if (!lead)
		return STEP_BAD;

	for (size_t i = 1; i <= lead->more; i++, (*used)++) {
		if (i == len)
			return STEP_SHORT;
		if (p[i] < (i == 1 ? lead->low : 0x80) || p[i] > (i == 1 ? lead->high : 0xbf))
			return STEP_BAD;
	}
	return STEP_CHAR;
}

size_t text_cut_head(const char *bytes, size_t len, size_t max)
{
	const unsigned char *p = (const unsigned char *)bytes;
	size_t end = len < max ? len : max, used;

	for (size_t back = 1; back <= 3 && back <= end; back++)
		if (look(p + end - back, back, &used) == STEP_SHORT)
			return end - back;
	return end;
}

size_t text_cut_tail(const char *bytes, size_t len, size_t max)
{
	const unsigned char *p = (const unsigned char *)bytes;
	size_t start = len > max ? len - max : 0, used;

	for (size_t back = 1; back <= 3 && back <= start; back++)
		if (look(p + start - back, len - start + back, &used) == STEP_CHAR && used > back)
			return start - back + used;
	return start;
}

bool text_valid(const char *bytes, size_t len)
{
	size_t used;

	for (size_t at = 0; at < len; at += used)
		if (look((const unsigned char *)bytes + at, len - at, &used) != STEP_CHAR)
			return false;
	return true;
}

/* Writes to `out` when it is not NULL; returns the length either way. */
static size_t replace_bad(const char *bytes, size_t len, char *out, bool *lossy)
{
	size_t used, n = 0;

	for (size_t at = 0; at < len; at += used) {
		bool good = look((const unsigned char *)bytes + at, len - at, &used) == STEP_CHAR;

		if (out)
			memcpy(out + n, good ? bytes + at : "\xef\xbf\xbd", good ? used : 3);
		n += good ? used : 3;
		if (!good)
			*lossy = true;
	}
	return n;
}

char *text_to_utf8(const char *bytes, size_t len, size_t *out_len, bool *lossy)
{
	char *out;

	*lossy = false;
	*out_len = replace_bad(bytes, len, NULL, lossy);
	out = malloc(*out_len + 1);
	if (!out)
		return NULL;

	replace_bad(bytes, len, out, lossy);
	out[*out_len] = '\0';
	return out;
}

/* C0, DEL and C1: nothing that moves a cursor or ends a line. */
static bool control(const unsigned char *p)
{
	return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

void text_line(char *text)
{
	unsigned char *from = (unsigned char *)text, *to = from;
	size_t left = strlen(text), used;

	for (; left; from += used, left -= used) {
		if (look(from, left, &used) != STEP_CHAR || control(from)) {
			*to++ = '?';
			continue;
		}
		memmove(to, from, used);
		to += used;
	}
	*to = '\0';
}

bool text_glob(const char *pattern, const char *name)
{
	const char *star = NULL, *retry = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			retry = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

#define NEAREST_MAX 64

/* Insertions, deletions, replacements and swaps of neighbours; both at most NEAREST_MAX long. */
static size_t distance(const char *a, size_t alen, const char *b, size_t blen)
{
	size_t rows[3][NEAREST_MAX + 1];

	for (size_t j = 0; j <= blen; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= alen; i++) {
		size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= blen; j++) {
			size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    older[j - 2] + 1 < best)
				best = older[j - 2] + 1;
			now[j] = best;
		}
	}
	return rows[alen % 3][blen];
}

const char *text_nearest(const char *word, const char *const *names, size_t count)
{
	size_t len = strlen(word), best = SIZE_MAX;
	const char *nearest = NULL;

	if (!len || len > NEAREST_MAX)
		return NULL;

	for (size_t i = 0; i < count; i++) {
		size_t nlen = strlen(names[i]), d;

		if (nlen > NEAREST_MAX)
			continue;
		/* The start of a name is a typo away from it, however much is missing. */
		d = len >= 3 && !strncmp(names[i], word, len) ? 1
							      : distance(word, len, names[i], nlen);
		if (d < best) {
			best = d;
			nearest = names[i];
		}
	}
	return best <= (len < 6 ? 1 : len / 3) ? nearest : NULL;
}

/* Appends one component, or takes the last one away for "..". */
static int walk_component(char *out, size_t *len, size_t size, const char *name, size_t name_len)
{
	if (!name_len || (name_len == 1 && name[0] == '.'))
		return 0;
	if (name_len == 2 && name[0] == '.' && name[1] == '.') {
		while (*len && out[--*len] != '/')
			;
		return 0;
	}
	if (*len + name_len + 2 > size)
		return -ENAMETOOLONG;
	out[(*len)++] = '/';
	memcpy(out + *len, name, name_len);
	*len += name_len;
	return 0;
}

int text_path(const char *base, const char *path, char *out, size_t size)
{
	const char *const parts[] = { path[0] == '/' ? "" : base, path };
	size_t len = 0;
	int rc = 0;

	for (int i = 0; i < 2; i++)
		for (const char *p = parts[i]; !rc && *p;) {
			size_t n = strcspn(p, "/");

			rc = walk_component(out, &len, size, p, n);
			p += n + (p[n] == '/');
		}
	if (rc)
		return rc;
	if (!len)
		out[len++] = '/';
	out[len] = '\0';
	return 0;
}
