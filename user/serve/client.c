/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "base/own.h"

static int open_socket(struct client *c, const struct rundir *d, int flags, struct err *err)
{
	const struct timeval patience = { .tv_sec = CLIENT_TIMEOUT_MS / 1000 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	/* A keeper that does not take connections must not hold up whoever wants to look. */
	*c = (struct client){ .fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0),
			      .timeout_ms = CLIENT_TIMEOUT_MS };
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/sock", d->fd);
	if (c->fd < 0 || setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    connect(c->fd, (const struct sockaddr *)&address, sizeof(address))) {
		int rc = -errno;

		client_close(c);
		if (rc == -ENOENT || rc == -ECONNREFUSED)
			return err_say(err, ERR_NOT_FOUND, rc, "run '%s' has no living keeper",
				       d->id);
		return err_set(err, rc, "connect to run '%s'", d->id);
	}
	return 0;
}

int client_open(struct client *c, const struct rundir *d, struct err *err)
{
	int rc = open_socket(c, d, 0, err);

	if (rc)
		return rc;
	c->buf = malloc(PROTOCOL_MAX);
	if (!c->buf) {
		client_close(c);
		return err_set(err, -ENOMEM, "connect to run '%s'", d->id);
	}
	return 0;
}

int client_open_nowait(struct client *c, const struct rundir *d)
{
	return open_socket(c, d, SOCK_NONBLOCK, NULL);
}

void client_close(struct client *c)
{
	close_fd(&c->fd);
	free(take_ptr(&c->buf));
}

int client_send(struct client *c, const struct request *request, struct err *err)
{
	json_t *message = protocol_request(request);
	own_str text = message ? json_dumps(message, JSON_COMPACT) : NULL;

	json_decref(message);
	if (!text)
		return err_set(err, -ENOMEM, "ask the keeper");
	if (send(c->fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		return err_set(err, -errno, "ask the keeper");
	return 0;
}

static int parse(const char *bytes, ssize_t len, json_t **message, struct err *err)
{
	json_error_t where;

	if (len == 0 || (len < 0 && errno == ECONNRESET))
		return 0;
	if (len < 0)
		return err_set(err, -errno, "hear from the keeper");
	*message = json_loadb(bytes, (size_t)len, JSON_ALLOW_NUL, &where);
	if (!*message)
		return err_say(err, ERR_PROTOCOL, -EBADMSG, "the keeper's reply is not JSON");
	return 1;
}

int client_receive(struct client *c, int timeout_ms, json_t **message, struct err *err)
{
	struct pollfd ready = { .fd = c->fd, .events = POLLIN };
	int rc = poll(&ready, 1, timeout_ms);

	if (rc == 0)
		return err_say(err, ERR_BUSY, -ETIMEDOUT,
			       "the keeper does not answer (is it stopped?)");
	return parse(c->buf, rc < 0 ? -1 : recv(c->fd, c->buf, PROTOCOL_MAX, 0), message, err);
}

int client_receive_nowait(struct client *c, char *buf, json_t **message)
{
	return parse(buf, recv(c->fd, buf, PROTOCOL_MAX, MSG_DONTWAIT), message, NULL);
}

int client_call(struct client *c, const struct request *request, json_t **reply, struct err *err)
{
	json_t *message = NULL;
	int rc = client_send(c, request, err);

	if (rc && rc != -EPIPE)
		return rc;
	if (!rc)
		rc = client_receive(c, c->timeout_ms, &message, err);
	if (rc == 0 || rc == -EPIPE)
		return err_say(err, ERR_NOT_FOUND, -ESRCH, "the run ended meanwhile");
	if (rc < 0)
		return rc;
	rc = protocol_reply_error(message, err);
	if (rc || !reply)
		json_decref(message);
	else
		*reply = message;
	return rc;
}
