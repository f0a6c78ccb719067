/* SPDX-License-Identifier: Apache-2.0 */
/* What a survey and the keepers say to each other; nobody waits for anybody. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "serve/survey_state.h"

#define FRESH_NS 2000000000ULL

void survey_hang_up(struct survey_run *r)
{
	client_close(&r->keeper);
	r->due = 0;
}

static void take(json_t **to, json_t *value)
{
	if (!value)
		return;
	json_decref(*to);
	*to = json_incref(value);
}

static void take_answer(struct survey *s, struct survey_run *r, json_t *message)
{
	take(&r->status, json_object_get(message, "status"));
	take(&r->processes, json_object_get(message, "processes"));
	take(&r->denials, json_object_get(message, "denials"));
	r->due -= r->due > 0;
	r->told_ns = s->now_ns;
}

/* All that has come; a keeper that closes is at its end, or had to make room for others. */
static void hear_one(struct survey *s, struct survey_run *r)
{
	json_t *message = NULL;
	int rc;

	while ((rc = client_receive_nowait(&r->keeper, s->buf, &message)) > 0) {
		take_answer(s, r, message);
		json_decref(message);
	}
	if (rc != -EAGAIN)
		survey_hang_up(r);
}

void survey_hear(struct survey *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->runs[i].keeper.fd >= 0)
			hear_one(s, &s->runs[i]);
}

static int connect_to(struct survey_run *r)
{
	struct rundir d;
	int rc = rundir_open(&d, r->glance.id, NULL);

	if (rc) {
		r->keeper_dead = rc == -ENOENT;
		return rc;
	}
	rc = client_open_nowait(&r->keeper, &d);
	/* Before its socket is there a run is being made: the directory says so. */
	r->keeper_dead =
		rc == -ECONNREFUSED || (rc == -ENOENT && rundir_state(&d) != RUNDIR_MAKING &&
					!(r->in_half && rundir_state(&d) == RUNDIR_LIVE));
	rundir_close(&d);
	return rc;
}

static void send_one(struct survey_run *r, enum request_op op)
{
	const struct request request = { .op = op };

	if (r->keeper.fd < 0)
		return;
	if (client_send(&r->keeper, &request, NULL))
		survey_hang_up(r);
	else
		r->due++;
}

static void ask_one(struct survey *s, struct survey_run *r)
{
	bool first = r->keeper.fd < 0;

	if (r->due || (first && connect_to(r)))
		return;
	r->asked_ns = s->now_ns;
	send_one(r, REQUEST_STATUS);
	if (!r->in_half)
		send_one(r, REQUEST_PROCESSES);
	if (r->want & SURVEY_DENIALS)
		send_one(r, REQUEST_WHY);
}

/* Runs that only their keepers know are asked always, in turn where there are many. */
void survey_ask(struct survey *s)
{
	size_t asked = 0, start = s->count ? s->turn % s->count : 0;

	for (size_t n = 0; n < s->count; n++) {
		struct survey_run *r = &s->runs[(start + n) % s->count];

		if (!r->want && r->in_half) {
			survey_hang_up(r);
			continue;
		}
		if (asked == SURVEY_ASKED_MAX) {
			survey_hang_up(r);
			continue;
		}
		asked++;
		ask_one(s, r);
	}
	if (asked == SURVEY_ASKED_MAX)
		s->turn += asked;
}

void survey_told(const struct survey *s, struct survey_run *r)
{
	bool answered = r->status && s->now_ns - r->told_ns < FRESH_NS;

	/* Where nothing else tells, an old word is better than none, and the state says that it is old. */
	if (answered || (r->status && !r->in_half))
		glance_status(&r->glance, r->status);
	if (r->keeper_dead && r->in_half)
		r->glance.state = GLANCE_ORPHAN;
	else if (r->due && s->now_ns - r->asked_ns > SURVEY_SILENCE_NS)
		r->glance.state = GLANCE_SILENT;
}

/* ---- processes ------------------------------------------------------------------------------ */

static uint64_t number_of(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static struct view_process process_of(const json_t *json)
{
	struct view_process p = {
		.start_ns = number_of(json, "start_ns"),
		.cpu_ns = number_of(json, "cpu_ns"),
		.pid = (uint32_t)number_of(json, "pid"),
		.ppid = (uint32_t)number_of(json, "ppid"),
		.threads = (uint32_t)number_of(json, "threads"),
		.state = text_of(json, "state")[0],
		.root = json_is_true(json_object_get(json, "root")),
	};

	kern_id_parse(text_of(json, "sandbox"), &p.sandbox);
	strncpy(p.comm, text_of(json, "comm"), sizeof(p.comm) - 1);
	return p;
}

/* The list of a run that is looked at itself leaves out those of the runs inside it. */
static bool told_elsewhere(struct survey *s, const struct survey_run *r, uint64_t sandbox)
{
	const struct survey_run *own = sandbox == r->glance.number ? NULL : survey_find(s, sandbox);

	return own && own->processes;
}

int survey_told_processes(struct survey *s, const struct survey_run *r)
{
	const json_t *list = json_object_get(r->processes, "list");
	struct view_processes *p = &s->processes;
	json_t *json;
	size_t i;

	if (r->in_half || !json_is_array(list))
		return 0;
	if (p->room < p->count + json_array_size(list)) {
		size_t room = 2 * (p->count + json_array_size(list));
		struct view_process *grown = realloc(p->list, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		p->list = grown;
		p->room = room;
	}
	json_array_foreach(list, i, json) {
		struct view_process one = process_of(json);

		if (!told_elsewhere(s, r, one.sandbox))
			p->list[p->count++] = one;
	}
	s->processes_dropped += number_of(r->processes, "dropped");
	return 0;
}

/* ---- patience ------------------------------------------------------------------------------- */

static size_t collect(struct survey *s, struct pollfd *ready)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count && n < SURVEY_ASKED_MAX; i++)
		if (s->runs[i].due)
			ready[n++] =
				(struct pollfd){ .fd = s->runs[i].keeper.fd, .events = POLLIN };
	return n;
}

void survey_settle(struct survey *s, unsigned int ms)
{
	uint64_t until = clock_boot_ns() + ms * 1000000ULL;
	struct pollfd ready[SURVEY_ASKED_MAX];
	size_t n;

	while ((n = collect(s, ready))) {
		uint64_t now = clock_boot_ns();

		if (now >= until || poll(ready, n, (int)((until - now) / 1000000) + 1) <= 0)
			return;
		s->now_ns = clock_boot_ns();
		survey_hear(s);
	}
}
