/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 views of any bytes: cuts are on boundaries, conversion is valid and says whether it lost. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void cuts(const char *bytes, size_t len, size_t max)
{
	size_t head = text_cut_head(bytes, len, max), tail = text_cut_tail(bytes, len, max);
	size_t room = len < max ? len : max;

	must(head <= room && room - head <= 3);
	must(tail <= len && len - tail <= room && tail - (len - room) <= 3);
	if (text_valid(bytes, len))
		must(text_valid(bytes, head) && text_valid(bytes + tail, len - tail));
}

static void conversion(const char *bytes, size_t len)
{
	size_t out_len;
	bool lossy;
	char *text = text_to_utf8(bytes, len, &out_len, &lossy);

	if (!text)
		return;
	must(text_valid(text, out_len) && out_len <= 3 * len && !text[out_len]);
	must(lossy == !text_valid(bytes, len));
	if (!lossy)
		must(out_len == len && !memcmp(text, bytes, len));
	free(text);
}

/* The first byte says where to cut; the rest is the text, its halves a pattern and a name. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "--timeout", "--tree", "" };
	const char *bytes = (const char *)data + 1;
	char *line, *half;

	if (!size)
		return 0;
	cuts(bytes, size - 1, data[0]);
	conversion(bytes, size - 1);

	line = strndup(bytes, size - 1);
	half = line ? strdup(line + strlen(line) / 2) : NULL;
	if (half) {
		line[strlen(line) / 2] = '\0';
		text_glob(line, half);
		must(text_glob("*", half));
		text_nearest(line, names, 3);
		text_line(line);
		must(text_valid(line, strlen(line)) && !strpbrk(line, "\n\r\x1b\x7f"));
	}
	free(line);
	free(half);
	return 0;
}
