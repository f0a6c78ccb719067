/* SPDX-License-Identifier: Apache-2.0 */
/* What was captured so far, for somebody who looks on while the run lives. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "run/state.h"

static size_t at_most(uint64_t have, size_t size)
{
	return have < size ? (size_t)have : size;
}

/* From the ring of the newest bytes; it wraps once it is full. */
static size_t read_tail(const struct store *s, uint64_t *offset, char *buf, size_t size)
{
	uint64_t start = s->bytes - s->tail_len;
	size_t ring = (size_t)(s->preview / 2), skip, n;

	if (*offset < start)
		*offset = start;
	skip = (size_t)(*offset - start);
	n = at_most(s->bytes - *offset, size);
	for (size_t i = 0; i < n; i++)
		buf[i] = s->tail[s->tail_len < ring ? skip + i : (s->tail_at + skip + i) % ring];
	return n;
}

ssize_t run_output_read(const struct run *run, int stream, uint64_t *offset, char *buf, size_t size)
{
	const struct store *s = &run->capture.streams[stream - 1].store;

	if (*offset >= s->bytes)
		return 0;
	if (*offset < s->head_len) {
		size_t n = at_most(s->head_len - *offset, size);

		memcpy(buf, s->head + *offset, n);
		return (ssize_t)n;
	}
	if (s->fd >= 0 && *offset < s->in_file) {
		ssize_t n = pread(s->fd, buf, at_most(s->in_file - *offset, size), (off_t)*offset);

		return n < 0 ? -errno : n;
	}
	if (!s->tail) {
		*offset = s->bytes;
		return 0;
	}
	return (ssize_t)read_tail(s, offset, buf, size);
}
