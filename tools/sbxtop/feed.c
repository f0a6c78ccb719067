/* SPDX-License-Identifier: Apache-2.0 */
#include "feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sbxctl/event_text.h"

void feed_close(struct feed *f)
{
	if (f->id[0])
		client_close(&f->client);
	for (size_t i = 0; i < FEED_KEPT; i++)
		free(f->lines[i]);
	free(f->buf);
	*f = (struct feed){ 0 };
}

void feed_follow(struct feed *f, const char *id)
{
	const struct request request = { .op = REQUEST_EVENTS, .follow = true };
	struct rundir d;

	if (!strcmp(f->id, id))
		return;
	feed_close(f);
	snprintf(f->id, sizeof(f->id), "%s", id);
	f->client.fd = -1;
	f->buf = malloc(PROTOCOL_MAX);
	f->over = true;
	if (!f->buf || rundir_open(&d, id, NULL))
		return;
	f->over = client_open_nowait(&f->client, &d) || client_send(&f->client, &request, NULL);
	rundir_close(&d);
}

static void take(struct feed *f, const json_t *event)
{
	char **line = &f->lines[f->count % FEED_KEPT], text[1024];

	if (!json_object_get(event, "event")) {
		f->over = true;
		return;
	}
	event_text(event, text, sizeof(text));
	free(*line);
	*line = strdup(text);
	f->count++;
}

void feed_poll(struct feed *f)
{
	json_t *message = NULL;
	int rc = -EAGAIN;

	while (!f->over && (rc = client_receive_nowait(&f->client, f->buf, &message)) > 0) {
		take(f, message);
		json_decref(message);
	}
	if (!f->over && rc != -EAGAIN)
		f->over = true;
}

void feed_pane(const struct feed *f, struct pane *p)
{
	bool at_end = p->top + 1 >= p->count || p->kind != PANE_EVENTS;
	uint64_t first = f->count > FEED_KEPT ? f->count - FEED_KEPT : 0;

	pane_clear(p);
	snprintf(p->title, sizeof(p->title), "events of %s%s", f->id, f->over ? ": over" : "");
	if (first)
		pane_add(p, PRINT_WARN, "%llu earlier ones are not shown",
			 (unsigned long long)first);
	for (uint64_t i = first; i < f->count; i++)
		if (f->lines[i % FEED_KEPT])
			pane_add(p, PRINT_PLAIN, "%s", f->lines[i % FEED_KEPT]);
	if (!f->count)
		pane_add(p, PRINT_DIM,
			 f->over ? "unknown: the keeper does not tell" : "nothing yet");
	if (at_end)
		p->top = p->count;
}
