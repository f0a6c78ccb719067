/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events: lines of one run, or of every live one, as JSON or for people; -f goes on, also with runs that start
 * later.
 *
 * A keeper that ends closes its connection after run_ended. Runs that start are found by looking at
 * the runtime directory now and then; what happened before is in the keeper's newest events.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "event_text.h"
#include "print.h"
#include "serve/event.h"
#include "serve/registry.h"
#include "target.h"
#include "usage.h"

#define SOURCES_MAX 1024
#define LOOK_EVERY_MS 200

struct source {
	char id[16];
	struct client client;
	bool done;
};

struct watching {
	struct source sources[SOURCES_MAX];
	size_t count;
	bool follow;
};

static bool for_people; /* else JSON */

static int print_for_people(const json_t *event)
{
	char text[2048];

	event_text(event, text, sizeof(text));
	print_text(stdout, text);
	return putchar('\n') == EOF ? -EPIPE : 0;
}

static int print_line(const json_t *event)
{
	int rc = for_people ? print_for_people(event) : print_json(stdout, event, false);

	return rc || fflush(stdout) ? -EPIPE : 0;
}

static int print_result_events(struct target *t, struct err *err)
{
	json_t *result = target_result(t, err), *events, *event;
	int rc = result ? 0 : err->code;
	size_t i;

	events = result ? event_from_result(result) : NULL;
	json_array_foreach(events, i, event)
		rc = rc ? rc : print_line(event);
	json_decref(events);
	json_decref(result);
	return rc;
}

enum { OVER, GOES_ON, CUT_OFF };

/* OVER: the keeper said it was all; CUT_OFF: it closed without (we were too slow for its last words, or it was
 * killed); negative errno. */
static int one_message(struct client *c, struct err *err)
{
	json_t *message = NULL;
	int rc = client_receive(c, CLIENT_FOREVER, &message, err);

	if (rc <= 0)
		return rc ? rc : CUT_OFF;
	if (json_object_get(message, "error"))
		rc = protocol_reply_error(message, err);
	else if (json_is_true(json_object_get(message, "end")))
		rc = OVER;
	else
		rc = print_line(message) ? err_set(err, -EPIPE, "write") : GOES_ON;
	json_decref(message);
	return rc;
}

/* An unknown number of events is lost; the end is on record. */
static int end_from_result(const char *id, struct err *err)
{
	json_t *dropped = event_dropped(UINT64_MAX);
	struct target t;
	int rc = target_open(&t, id, err);

	if (!rc && !t.live)
		rc = print_line(dropped) ? err_set(err, -EPIPE, "write")
					 : print_result_events(&t, err);
	json_decref(dropped);
	target_close(&t);
	return rc;
}

static int one_run(const char *word, bool follow, struct err *err)
{
	const struct request request = { .op = REQUEST_EVENTS, .follow = follow };
	struct target t;
	int rc = target_open(&t, word, err);

	if (rc)
		return rc;
	if (!t.live)
		rc = print_result_events(&t, err);
	else
		rc = client_send(&t.client, &request, err);
	if (!rc && t.live)
		while ((rc = one_message(&t.client, err)) == GOES_ON)
			;
	if (rc == CUT_OFF) {
		client_close(&t.client);
		rc = end_from_result(t.dir.id, err);
	}
	target_close(&t);
	return rc;
}

static bool known(const struct watching *w, const char *id)
{
	for (size_t i = 0; i < w->count; i++)
		if (!strcmp(w->sources[i].id, id))
			return true;
	return false;
}

/* Those that are gone make room. */
static void forget_done(struct watching *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->count; i++) {
		if (w->sources[i].done)
			client_close(&w->sources[i].client);
		else
			w->sources[kept++] = w->sources[i];
	}
	w->count = kept;
}

static int join(void *arg, struct rundir *d, enum rundir_state state)
{
	struct watching *w = arg;
	const struct request request = { .op = REQUEST_EVENTS, .follow = w->follow };
	struct source *s = &w->sources[w->count];

	if (state != RUNDIR_LIVE || w->count == SOURCES_MAX || known(w, d->id) ||
	    client_open(&s->client, d, NULL))
		return 0;
	if (client_send(&s->client, &request, NULL)) {
		client_close(&s->client);
		return 0;
	}
	memcpy(s->id, d->id, sizeof(s->id));
	s->done = false;
	w->count++;
	return 0;
}

static int take_ready(struct watching *w, const struct pollfd *ready, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		struct source *s = &w->sources[i];
		int rc = ready[i].revents ? one_message(&s->client, err) : GOES_ON;

		if (rc == CUT_OFF)
			rc = end_from_result(s->id, err);
		if (rc == -EPIPE)
			return rc;
		s->done = rc != GOES_ON;
	}
	return 0;
}

/* One round: what the known ones have to say. */
static int round_of(struct watching *w, struct pollfd *ready, struct err *err)
{
	int rc;

	for (size_t i = 0; i < w->count; i++)
		ready[i] = (struct pollfd){ .fd = w->sources[i].client.fd, .events = POLLIN };
	if (poll(ready, w->count, LOOK_EVERY_MS) < 0)
		return err_set(err, -errno, "poll");
	rc = take_ready(w, ready, w->count, err);
	forget_done(w);
	return rc;
}

static int every_run(struct watching *w, struct err *err)
{
	static struct pollfd ready[SOURCES_MAX];
	int rc = rundir_each(join, w);

	while (!rc && (w->follow || w->count)) {
		rc = round_of(w, ready, err);
		if (!rc && w->follow)
			rc = rundir_each(join, w);
	}
	if (rc == -EACCES)
		return err_say(err, ERR_PERMISSION, rc,
			       "only root may watch every run; name one of yours");
	return rc;
}

int cmd_events(int argc, char **argv)
{
	static struct watching watching;
	struct err err = { 0 };
	struct args a;
	int rc = args_parse(&a, argc, argv, 0, 1);

	if (rc)
		return rc;
	if (args_given(&a, "--json") && args_given(&a, "--text"))
		return usage_refuse("events", "--json and --text exclude each other");
	for_people =
		args_given(&a, "--text") || (!args_given(&a, "--json") && isatty(STDOUT_FILENO));
	watching.follow = args_given(&a, "--follow");
	rc = a.words ? one_run(a.word[0], watching.follow, &err) : every_run(&watching, &err);
	return rc < 0 && rc != -EPIPE ? print_err(argv[0], &err) : 0;
}
