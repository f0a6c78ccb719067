/* SPDX-License-Identifier: Apache-2.0 */
/* buf: a growing byte buffer with a bound. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>

struct buf {
	char *data; /* NUL-terminated once non-NULL */
	size_t len, cap;
	size_t max; /* growth beyond is -ENOBUFS; 0: 16 MiB */
};

void buf_done(struct buf *b);
int buf_add(struct buf *b, const void *bytes, size_t len);
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
