/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logs: what a run wrote, stdout to stdout and stderr to stderr, byte for byte where the bytes are kept.
 *
 * From the keeper while it lives; from where it stopped, or from the start, out of the spill or the
 * result when it has ended.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "base/io.h"
#include "base/own.h"
#include "print.h"
#include "target.h"

struct reading {
	struct target *target;
	uint64_t seen[2];
	char buf[PROTOCOL_MAX];
};

static int out_of(int stream)
{
	return stream == 1 ? STDOUT_FILENO : STDERR_FILENO;
}

static void note_gap(struct reading *r, int stream, uint64_t from, uint64_t to)
{
	if (to > from)
		fprintf(stderr, "sbxctl logs: run '%s': %" PRIu64 " bytes of %s are not kept\n",
			r->target->dir.id, to - from, stream == 1 ? "stdout" : "stderr");
}

/* One message: 1 goes on, 0 the end, negative errno. */
static int take(struct reading *r, const json_t *message, struct err *err)
{
	uint64_t offset;
	int stream, rc;
	ssize_t n;

	if (json_is_true(json_object_get(message, "end")))
		return 0;
	if (json_object_get(message, "error"))
		return protocol_reply_error(message, err);
	n = protocol_chunk_bytes(message, &stream, &offset, r->buf, sizeof(r->buf));
	if (n < 0)
		return err_say(err, ERR_PROTOCOL, (int)n, "the keeper's reply makes no sense");
	note_gap(r, stream, r->seen[stream - 1], offset);
	r->seen[stream - 1] = offset + (uint64_t)n;
	rc = io_write_all(out_of(stream), r->buf, (size_t)n);
	return rc ? err_set(err, rc, "write") : 1;
}

/* 1: said everything; 0: the keeper went away, the rest is on file; negative errno. */
static int from_keeper(struct reading *r, bool follow, struct err *err)
{
	const struct request request = { .op = REQUEST_LOGS, .follow = follow };
	int rc = client_send(&r->target->client, &request, err), goes_on = 1;

	while (!rc && goes_on == 1) {
		json_t *message = NULL;

		rc = client_receive(&r->target->client, CLIENT_FOREVER, &message, err);
		if (rc <= 0)
			return rc;
		goes_on = take(r, message, err);
		rc = goes_on < 0 ? goes_on : 0;
		json_decref(message);
	}
	return rc < 0 ? rc : 1;
}

static int from_spill(struct reading *r, int stream, int fd, struct err *err)
{
	uint64_t *at = &r->seen[stream - 1];
	ssize_t n;

	while ((n = pread(fd, r->buf, sizeof(r->buf), (off_t)*at)) > 0) {
		int rc = io_write_all(out_of(stream), r->buf, (size_t)n);

		if (rc)
			return err_set(err, rc, "write");
		*at += (uint64_t)n;
	}
	return n < 0 ? err_set(err, -errno, "read the spill") : 0;
}

/* The text of the result: the bytes themselves unless it says lossy or truncated. */
static int from_text(struct reading *r, int stream, const json_t *record, struct err *err)
{
	const json_t *text = json_object_get(record, "text");
	bool whole = !json_is_true(json_object_get(record, "truncated")) &&
		     !json_is_true(json_object_get(record, "lossy"));
	uint64_t at = r->seen[stream - 1], bytes = print_number(record, "bytes");
	size_t len = json_string_length(text);
	int rc;

	if (at && !whole) {
		note_gap(r, stream, at, bytes == UINT64_MAX ? at : bytes);
		return 0;
	}
	if (at >= len)
		return 0;
	rc = io_write_all(out_of(stream), json_string_value(text) + at, len - (size_t)at);
	return rc ? err_set(err, rc, "write") : 0;
}

static int from_files(struct reading *r, struct err *err)
{
	json_t *result = target_result(r->target, err);
	int rc = result ? 0 : err->code;

	for (int stream = 1; !rc && stream <= 2; stream++) {
		const char *name = stream == 1 ? "stdout" : "stderr";
		const char *file = stream == 1 ? "stdout.spill" : "stderr.spill";
		own_fd fd = rundir_open_file(&r->target->dir, file);

		if (fd >= 0)
			rc = from_spill(r, stream, fd, err);
		else
			rc = from_text(r, stream,
				       json_object_get(json_object_get(result, "output"), name),
				       err);
	}
	json_decref(result);
	return rc;
}

static int all_of_it(struct reading *r, bool follow, struct err *err)
{
	int rc = 0, status;

	if (r->target->live) {
		rc = from_keeper(r, follow, err);
		if (rc == 1 && !follow)
			return 0;
		/* Until the result is written there is nothing to read the rest from. */
		if (rc >= 0)
			rc = target_wait(r->target, &status, err);
	}
	return rc < 0 ? rc : from_files(r, err);
}

int cmd_logs(int argc, char **argv)
{
	static struct reading reading;
	struct err err = { 0 };
	struct target t;
	struct args a;
	int rc = args_parse(&a, argc, argv, 1, 1);

	if (rc)
		return rc;
	if (target_open(&t, a.word[0], &err))
		return print_err(argv[0], &err);
	reading.target = &t;
	rc = all_of_it(&reading, args_given(&a, "--follow"), &err);
	target_close(&t);
	return rc && rc != -EPIPE ? print_err(argv[0], &err) : 0;
}
