/* SPDX-License-Identifier: Apache-2.0 */
/* resolver_tcp: questions over TCP, each behind its length. Only resolver_serve.c uses it. Never waits. */
#ifndef KERN_RESOLVER_TCP_H
#define KERN_RESOLVER_TCP_H

#include <poll.h>

#include "kern/resolver_serve.h"

#define RESOLVER_TCP_POLLS (RESOLVER_CLIENTS_MAX + 1)
#define RESOLVER_TCP_BYTES 2048 /* of a question; a longer one ends the connection */
#define RESOLVER_TCP_OUT 16384	/* of answers that are not taken */

typedef void resolver_tcp_question(void *arg, uint64_t client, const uint8_t *bytes, size_t len);

struct resolver_tcp {
	int listener;
	resolver_tcp_question *question;
	void *arg;
	uint64_t next; /* number of the next client, never used twice */
	struct resolver_client {
		int fd; /* -1: none */
		uint64_t number, since_ms;
		size_t in, out;
		uint8_t read[RESOLVER_TCP_BYTES + 2], written[RESOLVER_TCP_OUT];
	} clients[RESOLVER_CLIENTS_MAX];
};

void resolver_tcp_init(struct resolver_tcp *t, int listener, resolver_tcp_question *question,
		       void *arg);
/* Fills at most RESOLVER_TCP_POLLS; returns how many. The same go to resolver_tcp_serve after poll(2). */
size_t resolver_tcp_polls(const struct resolver_tcp *t, struct pollfd *p);
void resolver_tcp_serve(struct resolver_tcp *t, const struct pollfd *p, size_t count);
int resolver_tcp_timeout_ms(const struct resolver_tcp *t);
/* To a client that may be gone by now. */
void resolver_tcp_send(struct resolver_tcp *t, uint64_t client, const uint8_t *bytes, size_t len);

#endif
