/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protocol: what keeper and client say to each other. Pure: bytes in, structs out.
 *
 * One JSON object a SOCK_SEQPACKET message of at most PROTOCOL_MAX bytes. A request names its `op`;
 * unknown operations and keys, and values of the wrong type or range, are errors. Replies:
 *
 *   {"ok": true}                                      done (stop, signal, freeze … are requests: done is "asked")
 *   {"ok": true, "status": {…}}                       status
 *   {"ok": true, "processes": {…}}                    processes: who lives in it, the oldest that fit
 *   {"ok": true, "denials": {…}}                      why: as in the result, the oldest items that fit
 *   {"ok": true, "exit_status": N}                    wait, once the run has ended and its result is written
 *   {"ok": false, "error": {"category", "text"}}      refused; the connection stays
 *   {"stream": "stdout", "offset": N, "base64": "…"}  logs, any number, in order for each stream
 *   {"event": KIND, "time": RFC 3339, "id", …}        events (event.h), any number
 *   {"end": true}                                     of logs or events
 */
#ifndef SERVE_PROTOCOL_H
#define SERVE_PROTOCOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "policy/spec.h"

#define PROTOCOL_MAX (64 * 1024)   /* bytes of one message */
#define PROTOCOL_CHUNK (32 * 1024) /* raw bytes in one logs message */

enum request_op {
	REQUEST_STATUS,
	REQUEST_PROCESSES,
	REQUEST_WHY,
	REQUEST_STOP,
	REQUEST_TERMINATE,
	REQUEST_CANCEL,
	REQUEST_SIGNAL,
	REQUEST_FREEZE,
	REQUEST_THAW,
	REQUEST_DETACH,
	REQUEST_UPDATE,
	REQUEST_WAIT,
	REQUEST_LOGS,
	REQUEST_EVENTS,
	REQUEST__COUNT,
};

/* Who may ask, beyond being the run's owner or root. */
enum permission {
	PERMISSION_OWNER,   /* also a process of the run itself */
	PERMISSION_OUTSIDE, /* never a process of the run: it would loosen its own limits */
};

struct request_row {
	const char *name;
	enum permission permission;
	unsigned int keys; /* bits of REQUEST_KEY_… that it may carry */
};
extern const struct request_row request_table[REQUEST__COUNT];

enum {
	REQUEST_KEY_SIGNAL = 1 << 0, /* "signal": 1 to 64; required where allowed */
	REQUEST_KEY_TREE = 1 << 1,   /* "tree": bool; every process instead of the root's group */
	REQUEST_KEY_FOLLOW = 1 << 2, /* "follow": bool */
	REQUEST_KEY_STDOUT = 1 << 3, /* "stdout": offset to start from */
	REQUEST_KEY_STDERR = 1 << 4,
	REQUEST_KEY_LIMITS =
		1 << 5, /* "limits": {NAME: number in the limit's unit}; required, not empty */
	REQUEST_KEY_GRACE = 1 << 6, /* "grace_ns": between signal and SIGKILL, else the run's own */
};

struct request {
	enum request_op op;
	int signal;
	bool tree, follow;
	bool has_grace;
	uint64_t grace_ns;
	uint64_t offset[2]; /* stdout, stderr */
	bool has_limit[LIMIT__COUNT];
	uint64_t limits[LIMIT__COUNT];
};

/* ERR_PROTOCOL, and nothing of the message but the name of a key in the text. */
int protocol_parse_request(const char *bytes, size_t len, struct request *out, struct err *err);
/* New reference, NULL when out of memory. */
json_t *protocol_request(const struct request *request);

/* A reply for `err`, NULL when out of memory. */
json_t *protocol_error(const struct err *err);
/* 0 for {"ok": true}; else the error of the reply in *err, with its code negative. */
int protocol_reply_error(const json_t *reply, struct err *err);

/* `len` is at most PROTOCOL_CHUNK; `stream` 1 or 2. New reference or NULL. */
json_t *protocol_chunk(int stream, uint64_t offset, const char *bytes, size_t len);
/* The bytes of a logs message into buf (PROTOCOL_MAX is enough): their number, or -EBADMSG. */
ssize_t protocol_chunk_bytes(const json_t *message, int *stream, uint64_t *offset, char *buf,
			     size_t size);

#endif
