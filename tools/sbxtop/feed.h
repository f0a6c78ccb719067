/* SPDX-License-Identifier: Apache-2.0 */
/* feed: the events of one run as they come, the newest FEED_KEPT of them. Never waits. */
#ifndef SBXTOP_FEED_H
#define SBXTOP_FEED_H

#include "pane.h"
#include "serve/client.h"

#define FEED_KEPT 500

struct feed {
	char id[16]; /* "": of none */
	struct client client;
	char *buf;		/* PROTOCOL_MAX; owned */
	char *lines[FEED_KEPT]; /* owned; a ring */
	uint64_t count;
	bool over;
};

/* Follows run `id`; what was kept of another one goes. */
void feed_follow(struct feed *f, const char *id);
void feed_close(struct feed *f);
/* Takes what has come. */
void feed_poll(struct feed *f);
void feed_pane(const struct feed *f, struct pane *p);

#endif
