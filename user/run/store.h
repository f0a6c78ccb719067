/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store: what is kept of one output stream: all of it, or head, tail and a spill file.
 *
 * Memory is bounded (STORE_HEAD and half a preview) whatever the stream brings; the rest is in the
 * spill file below the run's directory, up to `file_max`. Bytes are exact; text is made at the end.
 */
#ifndef RUN_STORE_H
#define RUN_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/result.h"
#include "run/rundir.h"

#define STORE_HEAD (32 * 1024)

struct store {
	struct rundir *dir;
	const char *name; /* of the spill file */
	uint64_t spill_at, preview, file_max;
	uint64_t bytes;	  /* seen */
	uint64_t in_file; /* of them in the file, from the first on */
	char *head, *tail;
	size_t head_len, head_size;
	size_t tail_len,
		tail_at; /* a ring of tail_size: preview / 2 and room for the start of a character */
	size_t tail_size;
	int fd;	   /* spill, -1: none */
	int error; /* why the spill ended early, 0: it did not */
};

void store_init(struct store *s, struct rundir *dir, const char *name, const struct spec *spec,
		uint64_t file_max);
/* 0, or the negative errno that ended the spill, once; counting and the tail go on. */
int store_add(struct store *s, const char *bytes, size_t len);
/* Copies kept bytes from *offset on, which moves past what is not kept. The number copied, 0: no more yet. */
ssize_t store_read(const struct store *s, uint64_t *offset, char *buf, size_t size);
/* Fills bytes, text, truncated, lossy, spill. The file stays when it is the only whole copy and `keep`. */
int store_finish(struct store *s, bool keep, struct output_record *out);
void store_done(struct store *s);

#endif
