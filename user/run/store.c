/* SPDX-License-Identifier: Apache-2.0 */
#include "run/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/io.h"
#include "base/own.h"
#include "base/text.h"

#define CHARACTER 4 /* bytes of the longest UTF-8 character */

void store_init(struct store *s, struct rundir *dir, const char *name, const struct spec *spec,
		uint64_t file_max)
{
	*s = (struct store){
		.dir = dir,
		.name = name,
		.spill_at = spec->spill_at_bytes,
		.preview = spec->preview_bytes,
		.file_max = file_max,
		.head_size =
			spec->preview_bytes / 2 > STORE_HEAD ? spec->preview_bytes / 2 : STORE_HEAD,
		.tail_size = spec->preview_bytes / 2 + CHARACTER,
		.fd = -1,
	};
	if (s->head_size > s->spill_at) /* past the threshold nothing is in memory alone */
		s->head_size = s->spill_at;
}

void store_done(struct store *s)
{
	close_fd(&s->fd);
	free(take_ptr(&s->head));
	free(take_ptr(&s->tail));
}

static int file_add(struct store *s, const char *bytes, size_t len)
{
	int rc;

	if (s->error || s->in_file >= s->file_max)
		return 0;
	if (s->fd < 0) {
		s->fd = rundir_create_file(s->dir, s->name, NULL);
		if (s->fd < 0)
			return s->error = s->fd;
		rc = io_write_all(s->fd, s->head, s->head_len);
		s->in_file = s->head_len;
		if (rc < 0)
			return s->error = rc;
	}
	if (len > s->file_max - s->in_file)
		len = (size_t)(s->file_max - s->in_file);
	rc = FAULT("spill_write") ? -EIO : io_write_all(s->fd, bytes, len);
	if (rc < 0)
		return s->error = rc;
	s->in_file += len;
	return 0;
}

static void tail_add(struct store *s, const char *bytes, size_t len)
{
	size_t size = s->tail_size, first;

	if (len >= size) {
		memcpy(s->tail, bytes + len - size, size);
		s->tail_at = 0;
		s->tail_len = size;
		return;
	}
	first = len < size - s->tail_at ? len : size - s->tail_at;
	memcpy(s->tail + s->tail_at, bytes, first);
	memcpy(s->tail, bytes + first, len - first);
	s->tail_at = (s->tail_at + len) % size;
	s->tail_len = s->tail_len + len < size ? s->tail_len + len : size;
}

int store_add(struct store *s, const char *bytes, size_t len)
{
	size_t fits = s->head_size - s->head_len < len ? s->head_size - s->head_len : len;
	int rc = 0;

	if (!s->head)
		s->head = malloc(s->head_size);
	if (!s->head)
		return -ENOMEM;
	if (fits < len) {
		if (!s->tail)
			s->tail = malloc(s->tail_size);
		/* The file first takes the head, so the part that still fits goes there before the rest. */
		memcpy(s->head + s->head_len, bytes, fits);
		s->head_len += fits;
		rc = file_add(s, bytes + fits, len - fits);
		if (s->tail)
			tail_add(s, bytes + fits, len - fits);
	} else {
		memcpy(s->head + s->head_len, bytes, len);
		s->head_len += len;
	}
	s->bytes += len;
	return rc;
}

static char tail_byte(const struct store *s, size_t at)
{
	return s->tail[s->tail_len < s->tail_size ? at : (s->tail_at + at) % s->tail_size];
}

ssize_t store_read(const struct store *s, uint64_t *offset, char *buf, size_t size)
{
	uint64_t tail_from = s->bytes - s->tail_len;
	size_t n = 0, from;

	if (*offset < s->head_len) {
		n = s->head_len - (size_t)*offset < size ? s->head_len - (size_t)*offset : size;
		memcpy(buf, s->head + *offset, n);
		return (ssize_t)n;
	}
	if (s->fd >= 0 && *offset < s->in_file) {
		ssize_t got = pread(s->fd, buf, size, (off_t)*offset);

		return got < 0 ? -errno : got;
	}
	if (*offset < tail_from)
		*offset = tail_from;
	for (; n < size && *offset + n < s->bytes; n++) {
		from = (size_t)(*offset + n - tail_from);
		buf[n] = tail_byte(s, from);
	}
	return (ssize_t)n;
}

static char *text_of(const char *bytes, size_t len, struct output_record *out)
{
	free(out->text);
	out->text = text_to_utf8(bytes, len, &out->text_len, &out->lossy);
	return out->text;
}

/* The whole stream, from the file. */
static int text_from_file(struct store *s, struct output_record *out)
{
	own_mem char *all = malloc((size_t)s->bytes + 1);

	if (!all)
		return -ENOMEM;
	if (pread(s->fd, all, (size_t)s->bytes, 0) != (ssize_t)s->bytes)
		return -EIO;
	return text_of(all, (size_t)s->bytes, out) ? 0 : -ENOMEM;
}

/* Head, a line that says what is missing, tail; both cut between characters. */
static int text_preview(struct store *s, struct output_record *out)
{
	size_t half = (size_t)(s->preview / 2), head, from, tail;
	own_mem char *line = malloc(s->tail_size), *all = malloc(s->preview + 96);
	int n;

	if (!line || !all)
		return -ENOMEM;
	head = text_cut_head(s->head, s->head_len, half);
	for (size_t i = 0; i < s->tail_len; i++)
		line[i] = tail_byte(s, i);
	from = text_cut_tail(line, s->tail_len, half);
	tail = s->tail_len - from;
	if (tail > s->bytes - head)
		tail = (size_t)(s->bytes - head);
	memcpy(all, s->head, head);
	n = snprintf(all + head, 96, "\n[sbx: %llu bytes left out here]\n",
		     (unsigned long long)(s->bytes - head - tail));
	memcpy(all + head + n, line + s->tail_len - tail, tail);
	out->truncated = true;
	return text_of(all, head + (size_t)n + tail, out) ? 0 : -ENOMEM;
}

int store_finish(struct store *s, bool keep, struct output_record *out)
{
	bool whole_file = s->fd >= 0 && s->in_file == s->bytes && !s->error;
	bool kept = s->fd >= 0 && s->bytes > s->spill_at && keep;
	int rc;

	out->bytes = s->bytes;
	if (s->bytes <= s->head_len && s->bytes <= s->spill_at)
		rc = text_of(s->head ? s->head : "", s->head_len, out) ? 0 : -ENOMEM;
	else if (whole_file && s->bytes <= s->spill_at)
		rc = text_from_file(s, out);
	else
		rc = text_preview(s, out);
	if (kept && asprintf(&out->spill, "%s/%s", s->dir->path, s->name) < 0)
		out->spill = NULL;
	if (s->fd >= 0 && !kept)
		unlinkat(s->dir->fd, s->name, 0);
	close_fd(&s->fd);
	return rc;
}
