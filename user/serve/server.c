/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation.
 *
 * A client sends requests, one a packet; each is looked up in request_table (protocol.h), allowed or
 * refused there, and answered at once. Two of them leave a subscription behind:
 *
 *   logs    The client has an offset into each stream. While it has not seen everything, its socket is
 *           watched for room, and each time there is room it gets the next chunk, read from what the run
 *           keeps anyway (memory or spill). A slow client so costs nothing and loses nothing.
 *   events  The newest few, then as they happen. A client whose socket is full misses them; the number is told with the
 *           next one that fits.
 *
 * A reply that does not fit into the socket ends the connection: a client that does not read its
 * replies is not worth memory. There is no other queue in this file. When the run ends, who waits is
 * answered and the rest are closed; what a logs client had not seen by then it reads from the
 * result and the spill, from its offset on.
 */
#include "serve/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "base/clock.h"
#include "base/own.h"
#include "run/rundir.h"
#include "serve/event.h"
#include "serve/identity.h"
#include "serve/protocol.h"
#include "serve/requests.h"

#define CHUNKS_A_TURN 4 /* then other sources of the loop get theirs */
#define LOOK_EVERY_NS (50ULL * 1000000)

struct peer {
	struct server *server; /* NULL: free slot */
	struct loop_source source;
	bool inside; /* a process of the run itself */
	bool waits, logs, follow, events;
	uint64_t offset[2];
	uint64_t events_missed;
};

struct server {
	struct run *run;
	struct loop *loop;
	struct loop_source listen;
	struct identity identity;
	char *buf; /* PROTOCOL_MAX + 1, made for the first client */
	struct peer peers[SERVER_CLIENTS_MAX];
	unsigned int next_victim;
	struct sbx_event kept[SERVER_EVENTS_KEPT]; /* a ring */
	uint64_t events;
	unsigned int subscribers; /* peers with `events` */
	struct loop_timer look;	  /* at the ring, while there are any */
	char started[RESULT_TIME_LEN];
	pid_t root_pid;
};

static void peer_close(struct peer *p)
{
	if (!p->server)
		return;
	p->server->subscribers -= p->events;
	loop_del(p->server->loop, &p->source);
	close_fd(&p->source.fd);
	*p = (struct peer){ .source.fd = -1 };
}

/* 0, or -EAGAIN when there is no room, or another negative errno. */
static int send_bytes(const struct peer *p, const char *bytes, size_t len)
{
	ssize_t n = send(p->source.fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR);

	return n < 0 ? -errno : 0;
}

/* Takes over `message`. */
static int send_json(const struct peer *p, json_t *message)
{
	own_str text = message ? json_dumps(message, JSON_COMPACT) : NULL;

	json_decref(message);
	if (!text)
		return -ENOMEM;
	return strlen(text) <= PROTOCOL_MAX ? send_bytes(p, text, strlen(text)) : -EMSGSIZE;
}

/* ---- logs ---- */

/* The next chunk of either stream: 1 sent, 0 nothing there, negative errno. */
static int send_chunk(struct peer *p)
{
	struct server *s = p->server;

	for (int stream = 1; stream <= 2; stream++) {
		uint64_t offset = p->offset[stream - 1];
		ssize_t n = run_output_read(s->run, stream, &offset, s->buf, PROTOCOL_CHUNK);
		int rc;

		if (n < 0)
			return (int)n;
		if (n == 0)
			continue;
		rc = send_json(p, protocol_chunk(stream, offset, s->buf, (size_t)n));
		if (rc)
			return rc;
		p->offset[stream - 1] = offset + (uint64_t)n;
		return 1;
	}
	return 0;
}

static void watch_room(struct peer *p, bool room)
{
	loop_mod(p->server->loop, &p->source, room ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void push_logs(struct peer *p)
{
	int rc = 1;

	for (int i = 0; i < CHUNKS_A_TURN && rc == 1; i++)
		rc = send_chunk(p);
	if (rc == 0 && !p->follow) {
		p->logs = false;
		rc = send_json(p, json_pack("{s:b}", "end", 1));
	}
	if (rc < 0 && rc != -EAGAIN)
		peer_close(p);
	else
		watch_room(p, rc != 0);
}

void server_output(struct server *server)
{
	for (int i = 0; server && i < SERVER_CLIENTS_MAX; i++)
		if (server->peers[i].server && server->peers[i].logs)
			watch_room(&server->peers[i], true);
}

/* ---- events ---- */

/* Takes over `event`. */
static void send_event(struct peer *p, json_t *event)
{
	int rc = 0;

	if (p->events_missed)
		rc = send_json(p, event_dropped(p->events_missed));
	if (!rc) {
		p->events_missed = 0;
		rc = send_json(p, event);
	} else {
		json_decref(event);
	}
	if (rc)
		p->events_missed++;
}

/* A time of the kernel half's clock as one for people. */
static void time_text(uint64_t boot_ns, char when[RESULT_TIME_LEN])
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	result_time_text((int64_t)now.tv_sec * 1000000000 + now.tv_nsec -
				 (int64_t)(clock_boot_ns() - boot_ns),
			 when);
}

static void send_process(struct peer *p, const struct sbx_event *event)
{
	char when[RESULT_TIME_LEN];
	json_t *json;

	time_text(event->time_ns, when);
	json = event_process(run_id(p->server->run), when, event);
	if (json)
		send_event(p, json);
}

/* Kept as they are: nothing is rendered until somebody wants to see it. */
void server_process(struct server *server, const struct sbx_event *event)
{
	if (!server)
		return;
	server->kept[server->events++ % SERVER_EVENTS_KEPT] = *event;
	for (int i = 0; server->subscribers && i < SERVER_CLIENTS_MAX; i++)
		if (server->peers[i].server && server->peers[i].events)
			send_process(&server->peers[i], event);
}

static void send_denied(struct peer *p, const struct denied_item *item)
{
	char when[RESULT_TIME_LEN];
	json_t *event;

	time_text(item->first_ns, when);
	event = event_denied(run_id(p->server->run), when, item);
	if (event)
		send_event(p, event);
}

/* Not kept here: the run has them all for whoever comes later. */
void server_denied(struct server *server, const struct denied_item *item)
{
	for (int i = 0; server && server->subscribers && i < SERVER_CLIENTS_MAX; i++)
		if (server->peers[i].server && server->peers[i].events)
			send_denied(&server->peers[i], item);
}

/* The ring wakes nobody for a few records. */
static void on_look(void *arg)
{
	struct server *s = arg;

	run_poll_events(s->run);
	if (s->subscribers)
		loop_timer_arm(s->loop, &s->look, clock_boot_ns() + LOOK_EVERY_NS);
}

static void send_kept_events(struct peer *p)
{
	struct server *s = p->server;
	uint64_t first = s->events > SERVER_EVENTS_KEPT ? s->events - SERVER_EVENTS_KEPT : 0;
	const struct denied *denied = run_denied(s->run);

	send_event(p, event_started(run_id(s->run), s->started, (uint32_t)s->root_pid));
	p->events_missed += first;
	for (uint64_t i = first; i < s->events; i++)
		send_process(p, &s->kept[i % SERVER_EVENTS_KEPT]);
	for (size_t i = 0; i < denied->count; i++)
		send_denied(p, &denied->items[i]);
}

static void send_end_events(struct server *s, const struct result *result)
{
	json_t *json = s->subscribers ? result_json(result) : NULL;
	json_t *events = json ? event_from_result(json) : NULL, *event;
	size_t n;

	for (int i = 0; events && i < SERVER_CLIENTS_MAX; i++) {
		struct peer *p = &s->peers[i];

		json_array_foreach(events, n, event)
			if (p->server && p->events)
				send_event(p, json_incref(event));
	}
	json_decref(events);
	json_decref(json);
}

/* ---- requests ---- */

static int subscribe(struct peer *p, const struct request *request)
{
	switch (request->op) {
	case REQUEST_WAIT:
		p->waits = true;
		return 0;
	case REQUEST_LOGS:
		memcpy(p->offset, request->offset, sizeof(p->offset));
		p->follow = request->follow;
		p->logs = true;
		watch_room(p, true);
		return 0;
	default:
		run_poll_events(p->server->run);
		send_kept_events(p);
		if (!request->follow)
			return send_json(p, json_pack("{s:b}", "end", 1));
		p->server->subscribers += !p->events;
		p->events = true;
		on_look(p->server);
		return 0;
	}
}

static bool is_subscription(enum request_op op)
{
	return op == REQUEST_WAIT || op == REQUEST_LOGS || op == REQUEST_EVENTS;
}

/* 0, or a negative errno when the connection is to end. */
static int answer(struct peer *p, const char *bytes, size_t len)
{
	struct err err = { 0 };
	struct request request;
	json_t *reply = NULL;
	int rc = protocol_parse_request(bytes, len, &request, &err);

	if (!rc && p->inside && request_table[request.op].permission == PERMISSION_OUTSIDE)
		rc = err_say(&err, ERR_PERMISSION, -EPERM, "not from inside the run");
	if (!rc && is_subscription(request.op))
		return subscribe(p, &request);
	if (!rc)
		rc = requests_do(p->server->run, &request, &reply, &err);
	return send_json(p, rc ? protocol_error(&err) : reply);
}

static void peer_ready(void *arg, uint32_t events)
{
	struct peer *p = arg;
	struct server *s = p->server;

	if (events & EPOLLIN) {
		ssize_t len = recv(p->source.fd, s->buf, PROTOCOL_MAX + 1, MSG_DONTWAIT);

		if (len < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		/* A request may end the run; the run never frees its server under us. */
		if (len <= 0 || answer(p, s->buf, (size_t)len)) {
			peer_close(p);
			return;
		}
	} else if (events & (EPOLLHUP | EPOLLERR)) {
		peer_close(p);
		return;
	}
	if (events & EPOLLOUT && p->logs)
		push_logs(p);
}

/* A free slot, or that of somebody who has asked for nothing that is still going on. */
static struct peer *find_slot(struct server *s)
{
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++)
		if (!s->peers[i].server)
			return &s->peers[i];
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++) {
		struct peer *p = &s->peers[s->next_victim++ % SERVER_CLIENTS_MAX];

		if (!p->waits && !p->logs && !p->events) {
			peer_close(p);
			return p;
		}
	}
	return NULL;
}

static int admit(struct server *s, int *fd)
{
	bool inside;
	struct peer *p;
	int rc = identity_check(&s->identity, *fd, &inside);

	if (rc)
		return rc;
	if (!s->buf)
		s->buf = malloc(PROTOCOL_MAX + 1);
	p = s->buf ? find_slot(s) : NULL;
	if (!p)
		return -EBUSY;
	*p = (struct peer){ .server = s, .inside = inside };
	p->source = (struct loop_source){ .fd = *fd, .ready = peer_ready, .arg = p };
	if (loop_add(s->loop, &p->source, EPOLLIN, NULL)) {
		*p = (struct peer){ .source.fd = -1 };
		return -ENOMEM;
	}
	take_fd(fd);
	return 0;
}

static void listen_ready(void *arg, uint32_t events)
{
	struct server *s = arg;
	own_fd fd = accept4(s->listen.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd >= 0)
		admit(s, &fd);
}

/* ---- life ---- */

/* Bound through the directory's descriptor: its path may be longer than sun_path. The mode is the socket
 * inode's at bind, so that there is no instant at which others could connect. A command that runs as
 * somebody else may ask from inside: it comes by its group, and is told by its label. */
static int listen_in(int dir, uid_t owner, uid_t user, gid_t group)
{
	own_fd fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/sock", dir);
	if (fd < 0 || fchmod(fd, 0600) ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) || listen(fd, 16))
		return -errno;
	if ((owner != geteuid() || user != owner) &&
	    fchownat(dir, "sock", owner, group, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (user != owner && fchmodat(dir, "sock", 0660, 0))
		return -errno;
	return take_fd(&fd);
}

static void server_init(struct server *s, struct run *run, struct loop *loop, int fd)
{
	const struct rundir *d = run_rundir(run);

	s->run = run;
	s->loop = loop;
	identity_init(&s->identity, run_id(run), d->reader, run_uid(run));
	s->root_pid = run_root_pid(run);
	s->listen = (struct loop_source){ .fd = fd, .ready = listen_ready, .arg = s };
	s->look = (struct loop_timer){ .fire = on_look, .arg = s };
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++)
		s->peers[i].source.fd = -1;
	result_time_text(run_result(run)->started_unix_ns, s->started);
}

int server_open(struct server **out, struct run *run, struct loop *loop, struct err *err)
{
	const struct rundir *d = run_rundir(run);
	own_fd fd = listen_in(d->fd, d->reader, run_uid(run),
			      run_uid(run) == d->reader ? d->reader_gid : run_gid(run));
	struct server *s;
	int rc;

	if (fd < 0)
		return err_set(err, fd, "listen on '%s/sock'", d->path);
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(err, -ENOMEM, "listen on '%s/sock'", d->path);
	server_init(s, run, loop, take_fd(&fd));
	rc = loop_add(loop, &s->listen, EPOLLIN, err);
	if (rc) {
		server_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

void server_ended(struct server *server, const struct result *result)
{
	if (server)
		send_end_events(server, result);
	for (int i = 0; server && i < SERVER_CLIENTS_MAX; i++) {
		struct peer *p = &server->peers[i];

		if (p->server && p->waits)
			send_json(p, json_pack("{s:b, s:i}", "ok", 1, "exit_status",
					       result_exit_status(result)));
		if (p->server && p->events)
			send_json(p, json_pack("{s:b}", "end", 1));
		peer_close(p);
	}
}

void server_close(struct server *server)
{
	if (!server)
		return;
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++)
		peer_close(&server->peers[i]);
	loop_timer_disarm(server->loop, &server->look);
	loop_del(server->loop, &server->listen);
	close_fd(&server->listen.fd);
	identity_done(&server->identity);
	free(server->buf);
	free(server);
}
