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
 *   events  Sent as they happen. A client whose socket is full misses them; the number is told with the
 *           next one that fits.
 *
 * A reply that does not fit into the socket ends the connection: a client that does not read its
 * replies is not worth memory. There is no other queue in this file. When the run ends, who waits is
 * answered and the rest are closed; what a logs client had not seen by then it reads from the
 * result and the spill, from its offset on.
 *
 * Identity: SO_PEERCRED is of the process that called connect(2). The kernel half says whether that
 * process is in this run (or in a run inside it); then it may look at its own status and no more, or
 * a sandboxed process with the owner's uid could raise its own limits.
 */
#include "serve/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "base/own.h"
#include "kern/kern.h"
#include "serve/protocol.h"
#include "serve/requests.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif
#define CHUNKS_A_TURN 4 /* then other sources of the loop get theirs */

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
	uid_t owner;
	struct kern *kern; /* opened for the first client */
	char *buf;	   /* PROTOCOL_MAX + 1, made for the first client */
	struct peer peers[SERVER_CLIENTS_MAX];
	unsigned int next_victim;
	char *kept[SERVER_EVENTS_KEPT]; /* a ring of rendered events */
	uint64_t events;
};

static void peer_close(struct peer *p)
{
	if (!p->server)
		return;
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

static void send_event(struct peer *p, const char *text)
{
	int rc = 0;

	if (p->events_missed)
		rc = send_json(p, json_pack("{s:s, s:I}", "event", "dropped", "count",
					    (json_int_t)p->events_missed));
	if (!rc) {
		p->events_missed = 0;
		rc = send_bytes(p, text, strlen(text));
	}
	if (rc)
		p->events_missed++;
}

void server_event(struct server *server, const char *kind, json_t *details)
{
	char when[RESULT_TIME_LEN];
	struct timespec now;
	json_t *event;
	char *text;

	if (!server)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	result_time_text((int64_t)now.tv_sec * 1000000000 + now.tv_nsec, when);
	event = json_pack("{s:s, s:s, s:s}", "event", kind, "time", when, "id",
			  run_id(server->run));
	if (event && details)
		json_object_update_missing(event, details);
	text = event ? json_dumps(event, JSON_COMPACT) : NULL;
	json_decref(event);
	if (!text || strlen(text) > PROTOCOL_MAX) {
		free(text);
		return;
	}

	char **slot = &server->kept[server->events++ % SERVER_EVENTS_KEPT];

	free(*slot);
	*slot = text;
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++)
		if (server->peers[i].server && server->peers[i].events)
			send_event(&server->peers[i], text);
}

static void send_kept_events(struct peer *p)
{
	struct server *s = p->server;
	uint64_t first = s->events > SERVER_EVENTS_KEPT ? s->events - SERVER_EVENTS_KEPT : 0;

	p->events_missed = first;
	for (uint64_t i = first; i < s->events; i++)
		send_event(p, s->kept[i % SERVER_EVENTS_KEPT]);
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
		send_kept_events(p);
		p->events = request->follow;
		return p->events ? 0 : send_json(p, json_pack("{s:b}", "end", 1));
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

/* ---- who is it ---- */

static int peer_pidfd(int fd, pid_t pid)
{
	int pidfd;
	socklen_t len = sizeof(pidfd);

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len))
		return pidfd;
	return pidfd_open(pid, 0);
}

/* Whether sandbox `id` is `run` or nested in it. */
static bool below(struct kern *k, uint64_t id, uint64_t run)
{
	struct sbx_sandbox row;

	for (int i = 0; id && i <= SBX_MAX_NEST; i++) {
		if (id == run)
			return true;
		if (kern_sandbox_read(k, id, &row))
			return false;
		id = row.parent;
	}
	return false;
}

/* What cannot be found out counts as inside: a peer that is gone, a kernel half that does not answer. */
static bool is_inside(struct server *s, int fd, pid_t pid)
{
	own_fd pidfd = peer_pidfd(fd, pid);
	uint64_t run, label;

	if (!s->kern && kern_open(&s->kern, NULL)) {
		s->kern = NULL;
		return true;
	}
	if (pidfd < 0 || kern_id_parse(run_id(s->run), &run) ||
	    kern_label_of(s->kern, pidfd, &label))
		return true;
	return label && below(s->kern, label, run);
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
	struct ucred cred;
	socklen_t len = sizeof(cred);
	struct peer *p;

	if (getsockopt(*fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	if (cred.uid != 0 && cred.uid != s->owner)
		return -EPERM;
	if (!s->buf)
		s->buf = malloc(PROTOCOL_MAX + 1);
	p = s->buf ? find_slot(s) : NULL;
	if (!p)
		return -EBUSY;
	*p = (struct peer){ .server = s, .inside = is_inside(s, *fd, cred.pid) };
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
 * inode's at bind, so that there is no instant at which others could connect. */
static int listen_in(int dir, uid_t owner, gid_t group)
{
	own_fd fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/sock", dir);
	if (fd < 0 || fchmod(fd, 0600) ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) || listen(fd, 16))
		return -errno;
	if (owner != geteuid() && fchownat(dir, "sock", owner, group, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return take_fd(&fd);
}

int server_open(struct server **out, struct run *run, uid_t owner, gid_t group, struct loop *loop,
		struct err *err)
{
	own_fd dir = open(run_dir(run), O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = dir < 0 ? -errno : listen_in(dir, owner, group), rc;
	struct server *s = fd < 0 ? NULL : calloc(1, sizeof(*s));

	if (fd < 0)
		return err_set(err, fd, "listen on '%s/sock'", run_dir(run));
	if (!s) {
		close(fd);
		return err_set(err, -ENOMEM, "listen on '%s/sock'", run_dir(run));
	}
	s->run = run;
	s->loop = loop;
	s->owner = owner;
	s->listen = (struct loop_source){ .fd = fd, .ready = listen_ready, .arg = s };
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++)
		s->peers[i].source.fd = -1;
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
	for (int i = 0; i < SERVER_EVENTS_KEPT; i++)
		free(server->kept[i]);
	loop_del(server->loop, &server->listen);
	close_fd(&server->listen.fd);
	kern_close(server->kern);
	free(server->buf);
	free(server);
}
