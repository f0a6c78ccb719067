/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server: one run, several clients, on ID/sock. Part of the keeper, on its loop.
 *
 * Never waits for a client and holds nothing for a slow one. Who may ask: the run's owner and root
 * (SO_PEERCRED), and what loosens or ends the run never from inside it.
 */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "base/loop.h"
#include "run/run.h"

#define SERVER_CLIENTS_MAX 32
#define SERVER_EVENTS_KEPT 64 /* newest process events, for a client that comes later */

struct server;

/* Listens; the socket belongs to the run's reader, 0600. Call after run_start has succeeded. The socket's name
 * goes with rundir_release, not with the server. */
int server_open(struct server **out, struct run *run, struct loop *loop, struct err *err);
/* Nobody is served any more; idempotent, NULL is fine. */
void server_close(struct server *server);

/* For struct run_watch; all do nothing when `server` is NULL. */
void server_output(struct server *server);
void server_process(struct server *server, const struct sbx_event *event);
void server_denied(struct server *server, const struct denied_item *item);
/* Once result.json is there: answers who waits, ends every stream. */
void server_ended(struct server *server, const struct result *result);

#endif
