/* SPDX-License-Identifier: Apache-2.0 */
/* client: the other end of server. Blocking, with a bound on every wait. */
#ifndef SERVE_CLIENT_H
#define SERVE_CLIENT_H

#include <jansson.h>

#include "base/err.h"
#include "run/rundir.h"
#include "serve/protocol.h"

#define CLIENT_TIMEOUT_MS 5000
#define CLIENT_FOREVER (-1)

struct client {
	int fd;
	int timeout_ms; /* of client_call; CLIENT_TIMEOUT_MS unless changed */
	char *buf;	/* PROTOCOL_MAX */
};

/* -ECONNREFUSED or -ENOENT (ERR_NOT_FOUND): nobody listens there, the keeper is gone or not there yet. */
int client_open(struct client *c, const struct rundir *d, struct err *err);
void client_close(struct client *c); /* idempotent */

/* For who asks many and waits for none: no wait in any call, and no buffer of its own (PROTOCOL_MAX, lent).
 * -EAGAIN: the keeper takes no more connections just now; of receive: nothing is there yet. */
int client_open_nowait(struct client *c, const struct rundir *d);
int client_receive_nowait(struct client *c, char *buf, json_t **message);

int client_send(struct client *c, const struct request *request, struct err *err);
/* 1 and a new reference in *message; 0 when the keeper has closed; -ETIMEDOUT; another negative errno. */
int client_receive(struct client *c, int timeout_ms, json_t **message, struct err *err);
/* Sends, receives, and turns {"ok": false} into its error. *reply may be NULL when only that matters. */
int client_call(struct client *c, const struct request *request, json_t **reply, struct err *err);

#endif
