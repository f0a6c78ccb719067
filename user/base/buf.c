/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define BUF_MAX_DEFAULT ((size_t)16 << 20)

void buf_done(struct buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
}

/* Room for `more` bytes and the NUL. */
static int reserve(struct buf *b, size_t more)
{
	size_t max = b->max ? b->max : BUF_MAX_DEFAULT;
	size_t cap = b->cap ? b->cap : 256;
	char *data;

	if (more > max - b->len)
		return -ENOBUFS;
	if (b->len + more < b->cap)
		return 0;

	while (cap <= b->len + more)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data)
		return -ENOMEM;

	b->data = data;
	b->cap = cap;
	return 0;
}

int buf_add(struct buf *b, const void *bytes, size_t len)
{
	int r = reserve(b, len);

	if (r < 0)
		return r;

	if (len)
		memcpy(b->data + b->len, bytes, len);
	b->len += len;
	b->data[b->len] = '\0';
	return 0;
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int len, r;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		return -EINVAL;

	r = reserve(b, len);
	if (r < 0)
		return r;

	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += len;
	return 0;
}
